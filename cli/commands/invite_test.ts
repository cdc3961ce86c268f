import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { codeOf } from "../testdata/enrolment.ts";
import { withIssuer } from "../testdata/workspace.ts";

const INVITE = ["invite", "--dir", "$D/acme", "--type", "employee"];

Deno.test("invite prints the invitation, or its link, and nothing else", () =>
  withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    const { code, stdout, stderr } = await workspace.sig([
      ...[...INVITE, "--role", "b", "--role", "a", "--role", "b"],
      ...["--for", "Al\u202eice"],
    ]);
    assertEquals(code, 0);
    assertMatch(stdout, /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}\n$/);
    assertStringIncludes(stderr, "for          Al\\u202eice\n");
    assertStringIncludes(stderr, "roles        b, a\n");
    const link = await workspace.sig([
      ...INVITE,
      "--page",
      "https://l.example",
    ]);
    assertMatch(link.stdout, /^https:\/\/l\.example\/#\/invitation\/eyJ.*\n$/);
    for (const host of ["127.0.0.1:8788", "[::1]", "localhost"]) {
      const page = `http://${host}`;
      const { code } = await workspace.sig([...INVITE, "--page", page]);
      assertEquals(code, 0, host);
    }
    // Nothing of it is kept: the feed learns of it by enrol.
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("invite as JSON has the terms, and a file of its own for one person", () =>
  withIssuer(async (workspace) => {
    const { stdout } = await workspace.sig([
      ...[...INVITE, "--valid-until", "2027-06-30", "--expires", "90d"],
      ...["--out", "$D/alice", "--format", "json"],
    ]);
    const { invitation, jti, expires_at, ...others } = JSON.parse(stdout);
    assertEquals(others, {
      file: "$D/alice",
      issuer: "did:web:acme.example",
      relationship_type: "employee",
      roles: [],
      valid_from: null,
      valid_until: "2027-07-01T00:00:00Z",
      for: null,
    });
    assertMatch(expires_at, /^2026-04-01T00:00:\d\dZ$/);
    assertEquals(jti.length, 43);
    const path = workspace.path("alice");
    assertEquals(await Deno.readTextFile(path), `${invitation}\n`);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    const again = await workspace.sig([
      ...[...INVITE, "--out", "$D/alice", "--format", "json"],
    ]);
    assertEquals(codeOf(again), [2, "write_failed"]);
  }));

Deno.test("invite signs with the key that signs the events", () =>
  withIssuer(async (workspace) => {
    const kidOf = async (words: readonly string[] = []) => {
      const { stdout } = await workspace.sig([...INVITE, ...words]);
      return JSON.parse(atob(stdout.split(".")[0]!)).kid;
    };
    assertEquals(await kidOf(), "orgsign-1");
    await workspace.sig(["rotate-key", "--dir", "$D/acme", "--kid", "k-2"]);
    assertEquals(await kidOf(), "k-2");
    assertEquals(await kidOf(["--kid", "orgsign-1"]), "orgsign-1");
    const missing = await workspace.sig(
      [...INVITE, "--kid", "k-3", "--format", "json"],
    );
    assertEquals(codeOf(missing), [2, "signing_key_not_found"]);
  }));

Deno.test("invite refuses what could not be offered", () =>
  withIssuer(async (workspace) => {
    for (
      const [words, code] of [
        [["--expires", "59m"], "invalid_request"],
        [["--expires", "91d"], "invalid_request"],
        [["--expires", "soon"], "invalid_request"],
        [["--valid-until", "03/04/2026"], "invalid_request"],
        [["--page", "javascript:alert(1)"], "invalid_request"],
        [["--page", "http://l.example"], "invalid_request"],
        [["--page", "http://127.0.0.1.l.example"], "invalid_request"],
        [["--for", "Al\u001b[2Jice"], "invalid_invitation"],
        [["--for", ""], "invalid_request"],
        [["--role", "r".repeat(129)], "invalid_invitation"],
        [["--type", "king"], "invalid_request"],
      ] as const
    ) {
      const refused = await workspace.sig(
        [
          ...INVITE.slice(0, words[0] === "--type" ? 3 : 5),
          ...words,
          "--format",
          "json",
        ],
      );
      assertEquals(codeOf(refused), [2, code], words.join(" "));
      assertEquals(refused.stdout, "");
    }
    const ended = await workspace.sig([
      ...[...INVITE, "--valid-until", "2025-12-31"],
    ]);
    assertEquals(ended.code, 0);
    assertStringIncludes(ended.stderr, "warning: it already ended");
  }));
