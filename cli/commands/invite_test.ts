import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { issuerTest as test } from "../testdata/workspace.ts";

const INVITE = "invite --dir $D/acme --type employee";

test("invite prints only the invitation or its link", async (workspace) => {
  const before = await workspace.snapshot();
  const { stdout, stderr } = await workspace.says(
    `${INVITE} --role b --role a --role b --for Al\u202eice`,
  );
  assertMatch(stdout, /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}\n$/);
  assertStringIncludes(stderr, "for          Al\\u202eice\n");
  assertStringIncludes(stderr, "roles        b, a\n");
  const link = await workspace.sig(`${INVITE} --page https://l.example`);
  assertMatch(link.stdout, /^https:\/\/l\.example\/#\/invitation\/eyJ.*\n$/);
  for (const host of ["127.0.0.1:8788", "[::1]", "localhost"]) {
    await workspace.says(`${INVITE} --page http://${host}`);
  }
  // invite stores nothing; only enrol writes to the feed.
  assertEquals(await workspace.snapshot(), before);
});

test("invite prints the terms as JSON, and --out writes a file of mode 0600", async (workspace) => {
  const { invitation, jti, expires_at, ...others } = await workspace.json(
    `${INVITE} --valid-until 2027-06-30 --expires 90d --out $D/alice`,
  );
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
  assertEquals(await workspace.read("alice"), `${invitation}\n`);
  assertEquals(await workspace.mode("alice"), 0o600);
  await workspace.refused(`${INVITE} --out $D/alice`, "error: write_failed: ");
});

test("invite signs with the issuer's current signing key", async (workspace) => {
  const kidOf = async (words = "") => {
    const { stdout } = await workspace.sig(`${INVITE} ${words}`);
    return JSON.parse(atob(stdout.split(".")[0]!)).kid;
  };
  assertEquals(await kidOf(), "orgsign-1");
  await workspace.ok("rotate-key --dir $D/acme --kid k-2");
  assertEquals(await kidOf(), "k-2");
  assertEquals(await kidOf("--kid orgsign-1"), "orgsign-1");
  await workspace.refused(`${INVITE} --kid k-3`, "signing_key_not_found: ");
});

test("invite refuses invalid terms", async (workspace) => {
  for (
    const [words, code] of [
      ["--expires 59m", "invalid_request"],
      ["--expires 91d", "invalid_request"],
      ["--expires soon", "invalid_request"],
      ["--valid-until 03/04/2026", "invalid_request"],
      ["--page javascript:alert(1)", "invalid_request"],
      ["--page http://l.example", "invalid_request"],
      ["--page http://127.0.0.1.l.example", "invalid_request"],
      ["--for Al\u001b[2Jice", "invalid_invitation"],
      ["--for ''", "invalid_request"],
      [`--role ${"r".repeat(129)}`, "invalid_invitation"],
    ] as const
  ) await workspace.refused(`${INVITE} ${words}`, `error: ${code}: `);
  await workspace.refused(
    "invite --dir $D/acme --type king",
    "error: invalid_request: ",
  );
  await workspace.says(`${INVITE} --valid-until 2025-12-31`, {
    err: "warning: it already ended",
  });
});

test("invite warns about the name of a person who left, not of one who is there", async (workspace) => {
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,person,name\ndid:web:alice.example,1,Alice\ndid:web:bob.example,2,Bob\n",
  );
  const left = "warning: BOB was revoked at ";
  const invite = (name: string) => workspace.sig(`${INVITE} --for ${name}`);
  const { code, stderr } = await invite("BOB");
  assertEquals(code, 0);
  assertStringIncludes(stderr, left);
  assertStringIncludes(stderr, "(contract_ended, did:web:bob.example)");
  for (const name of ["Alice", "Carol"]) {
    assertEquals((await invite(name)).stderr.includes("warning"), false);
  }
});
