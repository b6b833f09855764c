// Files that numpy 2.4 wrote, in base64:
//   X = numpy.array([[0, 1.5, 0], [-2, 0, 3]], dtype="<f4")

function bytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** numpy.save(file, X) */
export const plain: Uint8Array = bytes(
  "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAADAPwAAAAAAAADAAAAAAAAAQEA=",
);
/** numpy.save(file, numpy.asfortranarray(X.astype('>f8'))) */
export const fortran: Uint8Array = bytes(
  "k05VTVBZAQB2AHsnZGVzY3InOiAnPmY4JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAMAAAAAAAAAAP/gAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAgAAAAAAAA=",
);
/** numpy.save(file, numpy.array([1, 0])) */
export const list: Uint8Array = bytes(
  "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAAAAAAAAAAAAAAAAAAAA",
);
/** numpy.save(file, numpy.array([{}, None])) */
export const objects: Uint8Array = bytes(
  "k05VTVBZAQB2AHsnZGVzY3InOiAnfE8nLCAnZm9ydHJhbl9vcmRlcic6IEZhbHNlLCAnc2hhcGUnOiAoMiwpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAqABJWNAAAAAAAAAIwWbnVtcHkuX2NvcmUubXVsdGlhcnJheZSMDF9yZWNvbnN0cnVjdJSTlIwFbnVtcHmUjAduZGFycmF5lJOUSwCFlEMBYpSHlFKUKEsBSwKFlGgDjAVkdHlwZZSTlIwCTziUiYiHlFKUKEsDjAF8lE5OTkr/////Sv////9LP3SUYoldlCh9lE5ldJRiLg==",
);

/** An array that claims to be of this type and shape. */
export function npy(
  descr: string,
  shape: string,
  elements: Uint8Array = new Uint8Array(),
  fortran = "False",
): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }\n`;
  const start = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8];
  const bytes = new Uint8Array(start.length + header.length + elements.length);
  bytes.set(start);
  bytes.set(new TextEncoder().encode(header), start.length);
  bytes.set(elements, start.length + header.length);
  return bytes;
}
