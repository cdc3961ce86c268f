import { assertEquals } from "@std/assert";
import { withIssuer } from "../testdata/workspace.ts";

Deno.test("dump-state warns people of a subject without an event", async () => {
  await withIssuer(async (workspace) => {
    const said = async (subject: string, ...words: readonly string[]) => {
      const all = ["dump-state", "$D/acme", "--subject", subject, ...words];
      const { code, stderr } = await workspace.sig(all, {
        terminals: ["stdout", "stderr"],
      });
      assertEquals(code, 0);
      return stderr;
    };
    const typo = "did:web:alcie.example";
    assertEquals(
      await said(typo),
      `\x1b[33mwarning\x1b[0m: the feed has no event about "${typo}"\n`,
    );
    assertEquals(await said(typo, "--format", "json"), "");
    assertEquals(await said("did:web:alice.example"), "");
    // Of him there is a relationship, only not an active one.
    assertEquals(
      await said("did:web:bob.example", "--status", "active"),
      "",
    );
    // An older state does not show that the name is wrong.
    assertEquals(await said("did:web:bob.example", "--as-of", "1"), "");
  });
});
