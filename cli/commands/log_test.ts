import { assertEquals } from "@std/assert";
import { withIssuer } from "../testdata/workspace.ts";

Deno.test("log warns people, and not programs, of a subject or relationship without an event", async () => {
  await withIssuer(async (workspace) => {
    const ask = (subject: string, ...words: readonly string[]) =>
      workspace.sig(["log", "$D/acme", "--subject", subject, ...words], {
        terminals: ["stderr"],
      });
    const typo = "did:web:alcie.example";
    assertEquals(await ask(typo), {
      code: 0,
      stdout: "",
      stderr: `\x1b[33mwarning\x1b[0m: the feed has no event about "${typo}"\n`,
    });
    assertEquals(
      (await ask("alice.example")).stderr.replace(/^.*?: /, ""),
      'the feed has no event about "alice.example", which is not a DID: did you mean did:web:alice.example?\n',
    );
    const silent = { code: 0, stdout: "", stderr: "" };
    assertEquals(await ask(typo, "--format", "json"), silent);
    assertEquals(
      await workspace.sig(["log", "$D/acme", "--subject", typo]),
      silent,
    );
    // Of her there is an event, only not from there on.
    assertEquals(await ask("did:web:alice.example", "--from", "2"), silent);
    const of = async (...words: readonly string[]) => {
      const all = ["log", "$D/acme", ...words];
      return (await workspace.sig(all, { terminals: ["stderr"] })).stderr;
    };
    const alice = ["--subject", "did:web:alice.example"];
    const none = (id: string) =>
      `\x1b[33mwarning\x1b[0m: no event is about relationship "${id}"\n`;
    assertEquals(await of("--relationship-id", "r9"), none("r9"));
    assertEquals(await of("--relationship-id", "r2", ...alice), none("r2"));
    assertEquals(await of("--relationship-id", "r1", "--from", "2"), "");
  });
});
