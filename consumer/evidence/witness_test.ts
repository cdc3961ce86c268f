import { assert, assertEquals } from "@std/assert";
import { importVerificationKey, type SigningKey } from "@sig/jose";
import {
  cosignNote,
  formatSignature,
  type NoteKey,
  parseNote,
} from "@sig/jose/proofs";
import { locateIssuer, requestCosignature } from "../internal.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { watchProven } from "../../tests/kit/proofs.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";

const [key1, key2, stranger] = await importTestKeys();
const NAME = "witness.example/1";

/**
 * Requests a cosignature from a witness with this response, for an issuer of
 * three events.
 */
async function askWitness(
  answer: (body: string) => Response | Promise<Response>,
): Promise<string> {
  await using watched = await watchProven(3, key1);
  await using witness = serveLoopback(async (request) => {
    assertEquals(request.method, "POST");
    assertEquals(new URL(request.url).pathname, "/w/add-checkpoint");
    return await answer(await request.text());
  });
  const policy = { allowPrivate: true };
  const url = `${witness.origin}/w/`;
  const key = await noteKey(key2);
  return await requestCosignature(
    locateIssuer(watched.did, policy),
    { url, key },
    { ...policy, now: new Date() },
  );
}

async function noteKey(key: SigningKey): Promise<NoteKey> {
  const of = await importVerificationKey(key.publicJwk);
  return { name: NAME, type: "cosignature", key: of };
}

/**
 * Returns the witness's signature line: it signs the text after the first empty
 * line of a request.
 */
async function lineFor(body: string, key: SigningKey, altered = "") {
  const { text } = parseNote(body.slice(body.indexOf("\n\n") + 2));
  const line = await cosignNote(text + altered, NAME, key, 1);
  return formatSignature(line);
}

Deno.test("only the signature line by the witness's key is returned", async () => {
  let wanted = "";
  const line = await askWitness(async (body) => {
    assert(body.startsWith("old 0\n\n"));
    wanted = await lineFor(body, key2);
    return new Response(await lineFor(body, stranger) + wanted);
  });
  assertEquals(line, wanted);
});

for (
  const [what, answer, code, message] of [
    [
      "a signature of another text",
      async (body: string) => new Response(await lineFor(body, key2, "x\n")),
      "invalid_checkpoint",
      'the signature by "witness.example/1" does not verify',
    ],
    [
      "another key's signature",
      async (body: string) => new Response(await lineFor(body, stranger)),
      "invalid_checkpoint",
      'the answer has no signature by "witness.example/1"',
    ],
    [
      "a page instead of a line",
      () => new Response("<html></html>\n"),
      "invalid_checkpoint",
      "signature line 1 is malformed",
    ],
    [
      "no line",
      () => new Response(""),
      "invalid_checkpoint",
      "Cannot read checkpoint",
    ],
    [
      "a body larger than a checkpoint",
      () => new Response("x".repeat(128 * 1024 + 1)),
      "document_too_large",
      "it is larger than 131072 bytes",
    ],
    [
      "a redirect",
      () => Response.redirect("http://127.0.0.1:9/"),
      "fetch_status",
      "answered with status 302",
    ],
    [
      "a conflict without a size",
      () => new Response("three\n", { status: 409 }),
      "fetch_status",
      "answered with status 409",
    ],
    [
      "a conflict after the size that it stated",
      (body: string) =>
        new Response(body.startsWith("old 0\n") ? "2\n" : "1\n", {
          status: 409,
        }),
      "fetch_status",
      "answered with status 409",
    ],
    [
      "status 403 because it trusts other keys",
      () => new Response("", { status: 403 }),
      "fetch_status",
      "status 403: it trusts none of the keys that signed the checkpoint",
    ],
  ] as const
) {
  Deno.test(`a witness that responds with ${what} gives no cosignature`, async () => {
    await expectSigError(askWitness(answer), code, message);
  });
}
