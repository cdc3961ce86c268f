import { assertEquals, assertStringIncludes } from "@std/assert";
import { codeOf, enrolled, invited } from "../testdata/enrolment.ts";
import { withIssuer } from "../testdata/workspace.ts";

Deno.test("a did:web subject counts with the key that its document has now", () =>
  withIssuer(async (workspace) => {
    const invitation = await invited(workspace);
    await workspace.sig(["key", "generate", "--out", "$D/w.jwk", "--kid", "k"]);
    const { d: _, ...jwk } = JSON.parse(
      await Deno.readTextFile(workspace.path("w.jwk")),
    );
    let keys: object[] = [];
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ url }): Response => {
        const id = `did:web:${new URL(url).host.replace(":", "%3A")}`;
        return Response.json({ id, authentication: keys });
      },
    );
    const did = `did:web:127.0.0.1%3A${server.addr.port}`;
    const accepted = await workspace.sig([
      ...["accept", invitation, "--sig", "$D/acme", "--key", "$D/w.jwk"],
      ...["--subject", did],
    ]);
    const insecure = ["--yes", "--format", "json", "--allow-insecure"];
    const run = (words: readonly string[]) =>
      enrolled(workspace, accepted.stdout, words);
    assertEquals(codeOf(await run(insecure.slice(0, 3))), [
      2,
      "address_not_allowed",
    ]);
    assertEquals(codeOf(await run(insecure)), [
      2,
      "attestation_signature_invalid",
    ]);
    const type = "JsonWebKey2020";
    const id = `${did}#k`;
    keys = [{ id, type, controller: did, publicKeyJwk: jwk }];
    const { code } = await run(insecure);
    assertEquals(code, 0);
    const { stdout } = await workspace.sig(["log", "$D/acme"]);
    assertStringIncludes(stdout, did);
    await server.shutdown();
    assertEquals(codeOf(await run(insecure)), [2, "key_unresolvable"]);
  }));
