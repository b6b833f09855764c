// What a bundler for workers makes of this import.

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
