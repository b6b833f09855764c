// Finds the functions of assembly/ marked @kernel and writes the module's entry (each in both precisions) and the
// TypeScript types of what it exports.

interface Source {
  name: string;
  text: string;
}

interface Kernel {
  name: string;
  module: string;
  generic: boolean;
  parameters: { name: string; type: string }[];
  result: string;
}

const KERNEL = /@kernel\s*\*\/\s*export function (\w+)(<[^>]*>)?\(([^)]*)\): (\w+)/g;

function findKernels({ name, text }: Source): Kernel[] {
  return [...text.matchAll(KERNEL)].map((match) => ({
    name: match[1],
    module: name.replace(/\.ts$/, ""),
    generic: match[2] !== undefined,
    parameters: match[3]
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map((part) => {
        const [parameter, type] = part.split(":").map((piece) => piece.trim());
        return { name: parameter as string, type: type as string };
      }),
    result: match[4],
  }));
}

/** isize and usize are i32 in the 32-bit module; T is one of the two precisions. */
const narrow = (type: string, precision: string): string =>
  type === "T" ? precision : type === "isize" ? "i32" : type;

function entryFunction(kernel: Kernel, precision: string): string {
  const suffix = kernel.generic ? `_${precision}` : "";
  const parameters = kernel.parameters.map(({ name, type }) => `${name}: ${narrow(type, precision)}`).join(", ");
  const argument = kernel.parameters.map(({ name }) => name).join(", ");
  const call = `${kernel.module}.${kernel.name}${kernel.generic ? `<${precision}>` : ""}(${argument})`;
  const result = narrow(kernel.result, precision);
  return `export function ${kernel.name}${suffix}(${parameters}): ${result} { ${result === "void" ? "" : "return "}${call}; }`;
}

function typeOf(kernel: Kernel): string {
  const parameters = kernel.parameters
    .map(({ name, type }) => `${name}: ${type === "bool" ? "boolean | number" : "number"}`)
    .join(", ");
  return `  ${kernel.name}(${parameters}): ${kernel.result === "void" ? "void" : "number"};`;
}

export function kernelSources(sources: Source[]): { entry: string; types: string } {
  const kernels = sources.flatMap(findKernels);
  const modules = [...new Set(kernels.map((kernel) => kernel.module))];
  const functions = kernels.flatMap((kernel) =>
    kernel.generic ? [entryFunction(kernel, "f32"), entryFunction(kernel, "f64")] : [entryFunction(kernel, "")],
  );
  const imports = modules.map((module) => `import * as ${module} from "../assembly/${module}";`);
  const entry = `// Made by scripts/kernels.ts.\n${[...imports, ...functions].join("\n")}\n`;
  const types = `// Made by scripts/kernels.ts: what the WASM module exports. Sizes count elements, addresses bytes.

/** Kernels that exist once. */
export interface CommonKernels {
${kernels
  .filter((kernel) => !kernel.generic)
  .map(typeOf)
  .join("\n")}
}

/** Kernels that exist in both precisions; the module's names end in _f32 and _f64. */
export interface PrecisionKernels {
${kernels
  .filter((kernel) => kernel.generic)
  .map(typeOf)
  .join("\n")}
}
`;
  return { entry, types };
}
