// WASM modules that are part of the code, as text.

/** Compiles a module from its bytes in base64. */
export function compileBase64(text: string): Promise<WebAssembly.Module> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return WebAssembly.compile(bytes);
}
