// Who may teach: those who know the token, where there is one.

import { Refusal } from "./refusal.ts";

/** Refuses a request without the token. How long it takes does not tell how much of the token was right. */
export function checkToken(authorization: string | null | undefined, token: string | undefined): void {
  if (token === undefined) return;
  const given = /^Bearer (.*)$/i.exec(authorization ?? "")?.[1];
  if (given !== undefined && equal(given, token)) return;
  throw new Refusal(
    401,
    `authorization: found ${authorization ? "another token" : "none"}, expected "Bearer TOKEN"`,
    {
      "www-authenticate": "Bearer",
    },
  );
}

function equal(a: string, b: string): boolean {
  const encoder = new TextEncoder();
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  let difference = left.length ^ right.length;
  for (let i = 0; i < right.length; i++) difference |= (left[i % left.length] ?? 0) ^ (right[i] as number);
  return difference === 0;
}
