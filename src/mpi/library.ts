// Functions of a library of MPI, called from Node and Bun through the package koffi and from Deno by itself. MPICH and those
// that share its ABI have whole numbers for handles; with Open MPI they are addresses.

/** Kept outside the import: bundlers must not look for a package that is optional. */
const PACKAGE = { name: "koffi" };

type Kind = "handle" | "int" | "buffer";

const signatures = {
  MPI_Init: ["buffer", "buffer"],
  MPI_Comm_rank: ["handle", "buffer"],
  MPI_Comm_size: ["handle", "buffer"],
  MPI_Iallgatherv: ["buffer", "int", "handle", "buffer", "buffer", "buffer", "handle", "handle", "buffer"],
  MPI_Ibarrier: ["handle", "buffer"],
  MPI_Test: ["buffer", "buffer", "buffer"],
  MPI_Finalize: [],
  MPI_Abort: ["handle", "int"],
} as const;
export type Name = keyof typeof signatures;

type Argument = unknown;
type Call = (...args: Argument[]) => number;

export interface Library {
  readonly openMpi: boolean;
  /** MPI_COMM_WORLD and MPI_BYTE */
  readonly world: unknown;
  readonly byte: unknown;
  /** Calls a function, which gives 0 where all is well. */
  call(name: Name, ...args: Argument[]): number;
}

/** Places of the library, by the program that started this one. */
const PLACES = { openMpi: ["libmpi.so.40", "libmpi.so"], mpich: ["libmpich.so.12", "libmpi.so.12", "libmpi.so"] };
/** As MPICH's mpi.h has them; part of its ABI. */
const MPICH = { world: 0x44000000, byte: 0x4c00010d };
const OPEN_MPI = { world: "ompi_mpi_comm_world", byte: "ompi_mpi_byte" };

interface Loaded {
  call(name: Name, args: Argument[]): number;
  address(name: string): unknown;
}

/** Loads the library that belongs to the launcher, or the one at `path`. */
export async function loadLibrary(openMpi: boolean, path: string | undefined): Promise<Library> {
  const places = path === undefined ? PLACES[openMpi ? "openMpi" : "mpich"] : [path];
  const load = "Deno" in globalThis ? loadWithDeno : await koffiLoader();
  const faults: string[] = [];
  for (const place of places) {
    try {
      const { call, address } = load(place, openMpi);
      const handles = openMpi ? { world: address(OPEN_MPI.world), byte: address(OPEN_MPI.byte) } : MPICH;
      return { openMpi, ...handles, call: (name, ...args) => call(name, args) };
    } catch (error) {
      faults.push((error as Error).message.split("\n")[0]);
    }
  }
  throw new Error(
    `found no library of ${openMpi ? "Open MPI" : "MPICH"} (${faults[0]}), expected ${places.join(" or ")}, or its path in MLGPF_MPI_LIBRARY`,
  );
}

type Loader = (place: string, openMpi: boolean) => Loaded;

interface Koffi {
  load(
    path: string,
    options: { global: boolean },
  ): {
    func(name: string, result: string, parameters: string[]): Call;
    symbol(name: string): unknown;
  };
}

async function koffiLoader(): Promise<Loader> {
  const { default: koffi } = (await import(/* @vite-ignore */ PACKAGE.name).catch(() => {
    throw new Error("found no package koffi, which calls MPI, expected it beside mlgpf (npm install koffi)");
  })) as { default: Koffi };
  return (place, openMpi) => {
    // Open MPI's own parts look for its functions among those of all libraries.
    const library = koffi.load(place, { global: true });
    const types: Record<Kind, string> = { handle: openMpi ? "void *" : "int", int: "int", buffer: "void *" };
    const typed = (kinds: readonly Kind[]): string[] => kinds.map((kind) => types[kind]);
    const functions = new Map(
      Object.entries(signatures).map(([name, kinds]) => [name, library.func(name, "int", typed(kinds))]),
    );
    return { call: (name, args) => (functions.get(name) as Call)(...args), address: (name) => library.symbol(name) };
  };
}

interface DenoHost {
  Deno: { dlopen(path: string, symbols: Record<string, unknown>): { symbols: Record<string, unknown> } };
}

function loadWithDeno(place: string, openMpi: boolean): Loaded {
  const { Deno } = globalThis as unknown as DenoHost;
  const types: Record<Kind, string> = { handle: openMpi ? "pointer" : "i32", int: "i32", buffer: "buffer" };
  const functions = Object.entries(signatures).map(([name, kinds]) => [
    name,
    { parameters: kinds.map((kind) => types[kind]), result: "i32" },
  ]);
  const variables = openMpi ? Object.values(OPEN_MPI).map((name) => [name, { type: "pointer" }]) : [];
  const { symbols } = Deno.dlopen(place, Object.fromEntries([...functions, ...variables]));
  return { call: (name, args) => (symbols[name] as Call)(...args), address: (name) => symbols[name] };
}
