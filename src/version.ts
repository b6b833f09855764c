// The package's version, as package.json and deno.json have it too (a test compares).
export const version = "0.1.0";
