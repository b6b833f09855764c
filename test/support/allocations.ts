// How much memory a piece of work asks for at once.

const ARRAYS = [
  "Uint8Array",
  "Int8Array",
  "Uint16Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
  "ArrayBuffer",
] as const;

/** Measures every array that is made anew until it is stopped, in bytes. */
export function watchAllocations(): { greatest: number; total: number; stop: () => void } {
  const originals = ARRAYS.map((name) => globalThis[name]);
  const watch = {
    greatest: 0,
    total: 0,
    stop: () => {
      for (const original of originals) Object.assign(globalThis, { [original.name]: original });
    },
  };
  for (const original of originals) {
    const watched: typeof Uint8Array = new Proxy(original as typeof Uint8Array, {
      construct(target, args, newTarget): Uint8Array {
        const made: Uint8Array = Reflect.construct(target, args, newTarget === watched ? target : newTarget);
        // A view of a buffer that is there already makes nothing.
        if (args[0] instanceof ArrayBuffer) return made;
        watch.greatest = Math.max(watch.greatest, made.byteLength);
        watch.total += made.byteLength;
        return made;
      },
    });
    Object.assign(globalThis, { [original.name]: watched });
  }
  return watch;
}
