// Type of this import, as a bundler for workers makes it.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
