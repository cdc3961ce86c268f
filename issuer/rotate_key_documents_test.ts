import { generateSigningKey } from "@sig/jose";
import { assertEquals, assertRejects } from "@std/assert";
import { DID, HOST, readFeed, upsert, withPlace } from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { type Json, kids, readJson, writeJson } from "./testdata/documents.ts";

Deno.test("members, keys and methods of others are kept", () =>
  withPlace(async (place) => {
    const foreign = { kty: "RSA", n: "AQAB", e: "AQAB", kid: "mail" };
    const jwks = await readJson(place, "jwks.json") as { keys: Json[] };
    await writeJson(place, "jwks.json", {
      note: "ours",
      keys: [foreign, ...jwks.keys],
    });
    const did = await readJson(place, "did.json");
    const service = [{ id: "#files", type: "Files", serviceEndpoint: "x" }];
    const embedded = {
      id: `${DID}#sep`,
      type: "JsonWebKey2020",
      controller: DID,
      publicKeyJwk: foreign,
    };
    await writeJson(place, "did.json", {
      ...did,
      service,
      assertionMethod: [...did.assertionMethod as unknown[], embedded],
    });
    const issuer = await place.open();
    await issuer.rotateKey({ kid: "key-2" });
    const after = await readJson(place, "jwks.json") as Json & { keys: Json[] };
    assertEquals(after.note, "ours");
    assertEquals(after.keys.map(({ kid }) => kid), [
      "mail",
      "orgsign-1",
      "key-2",
    ]);
    const document = await readJson(place, "did.json");
    assertEquals(document.service, service);
    assertEquals((document.assertionMethod as unknown[])[1], embedded);
    await expectSigError(
      issuer.rotateKey({ kid: "mail" }),
      "kid_exists",
      "published already",
    );
    await issuer.append(upsert());
    await readFeed(place);
  }));

Deno.test("without a DID document the key set alone decides", () =>
  withPlace(async (place) => {
    await Deno.remove(`${place.dir}/.well-known/did.json`);
    const issuer = await place.open();
    await issuer.append(upsert());
    await issuer.rotateKey({ kid: "key-2" });
    await issuer.append(upsert());
    assertEquals(await kids(place), ["orgsign-1", "key-2"]);
    await assertRejects(() => Deno.stat(`${place.dir}/.well-known/did.json`));
  }));

Deno.test("documents that readers would refuse for their size are not written", () =>
  withPlace(async (place) => {
    const jwks = await readJson(place, "jwks.json") as { keys: Json[] };
    const [one] = jwks.keys;
    // Room for two keys, not for three.
    const size = (note: string, count: number) =>
      JSON.stringify({ note, keys: Array(count).fill(one) }, null, 2).length;
    const note = "x".repeat(256 * 1024 - size("", 3) + 20);
    await writeJson(place, "jwks.json", { note, ...jwks });
    const issuer = await place.open();
    await issuer.rotateKey({ kid: "key-2" });
    await expectSigError(
      issuer.rotateKey({ kid: "key-3" }),
      "document_too_large",
      "at most 262144",
    );
    // The private key of a refused rotation is not left behind.
    assertEquals(
      [...Deno.readDirSync(`${place.keysDir}/${HOST}`)].map(({ name }) => name)
        .sort(),
      ["key-2.jwk", "orgsign-1.jwk"],
    );
  }));

Deno.test("a key that is published but not authorised does not sign", () =>
  withPlace(async (place) => {
    const did = await readJson(place, "did.json");
    await (await place.open()).rotateKey({ kid: "key-2" });
    await writeJson(place, "did.json", did);
    await expectSigError(
      (await place.open({ kid: "key-2" })).append(upsert()),
      "key_not_authorized",
      "assertionMethod does not list it",
    );
    await (await place.open()).append(upsert());
    assertEquals(await kids(place), ["orgsign-1"]);
  }));

Deno.test("keys that were swapped or damaged are refused before anything is written", () =>
  withPlace(async (place) => {
    const path = `${place.keysDir}/${HOST}/orgsign-1.jwk`;
    const good = JSON.parse(await Deno.readTextFile(path)) as Json;
    const other = await generateSigningKey({ kid: "orgsign-1" });
    for (
      const [jwk, message] of [
        [other, 'another key is published as "orgsign-1"'],
        [{ ...good, d: other.d }, "x is not the public key of d"],
        [{ ...good, x: other.x }, "x is not the public key of d"],
        [{ ...good, d: "AAAA" }, ""],
        [{ kty: "OKP" }, "is not a file with a private Ed25519 JWK"],
      ] as const
    ) {
      await Deno.writeTextFile(path, JSON.stringify(jwk));
      const error = await expectSigError(
        (await place.open()).append(upsert()),
        "invalid_key",
        message,
      );
      const told = JSON.stringify([
        error.message,
        error.context,
        `${error.stack}`,
      ]);
      assertEquals(told.includes(String(good.d)), false);
      assertEquals(told.includes(other.d), false);
    }
    await Deno.writeTextFile(path, "{oops");
    await expectSigError(
      (await place.open()).append(upsert()),
      "invalid_key",
      "is not a file with a private Ed25519 JWK",
    );
    assertEquals(await Deno.readTextFile(place.feed), "");
  }));
