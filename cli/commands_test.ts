import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECK, FEED, runCase, UPSERT } from "./testdata/cases.ts";
import { withIssuer } from "./testdata/workspace.ts";

Deno.test("an upsert is appended, and says its relationship and sequence", async () => {
  await withIssuer(async (workspace) => {
    const args =
      `${UPSERT} --relationship-id r3 --event-id e4 --title CTO --metadata '{"badge":7}'`;
    const stdout = "Appended relationship.upsert r3 (seq=4)\n";
    await runCase(workspace, { name: "first", args, stdout });
    const stderr =
      "warning: event e4 is already in the feed (seq=4); nothing was written\n";
    await runCase(workspace, { name: "repeated", args, stdout, stderr });
    const json = await workspace.sig(
      "log $D/acme --from 4 --format json".split(" "),
    );
    const event = JSON.parse(json.stdout);
    assertEquals(event.display, { title: "CTO" });
    assertEquals(event.metadata, { badge: 7 });
    assertEquals(event.valid_until, null);
  });
});

Deno.test("an append as JSON says what it wrote", async () => {
  await withIssuer(async (workspace) => {
    const words =
      "revoke --dir $D/acme --relationship-id r2 --reason-code error_correction --amend --event-id e9 --format json"
        .split(" ");
    const expected = {
      event_type: "relationship.revoke",
      event_id: "e9",
      relationship_id: "r2",
      sequence: 4,
      repeated: false,
    };
    assertEquals(JSON.parse((await workspace.sig(words)).stdout), expected);
    assertEquals(
      JSON.parse((await workspace.sig(words)).stdout),
      { ...expected, repeated: true },
    );
  });
});

Deno.test("values that look like numbers or flags are text", async () => {
  await withIssuer(async (workspace) => {
    await runCase(workspace, {
      name: "append",
      args:
        `${UPSERT} --relationship-id 007 --event-id 1e3 --reason '-5% of it' --label=--x --role 12 --role 0x1f`,
      stdout: "Appended relationship.upsert 007 (seq=4)\n",
    });
    const { stdout } = await workspace.sig(
      "log $D/acme --from 4 --format json".split(" "),
    );
    const event = JSON.parse(stdout);
    assertEquals(event.event_id, "1e3");
    assertEquals(event.reason, "-5% of it");
    assertEquals(event.display, { label: "--x" });
    assertEquals(event.roles, ["12", "0x1f"]);
  });
});

Deno.test("after a rotation events are signed with the new key, and all verify", async () => {
  await withIssuer(async (workspace) => {
    await runCase(workspace, {
      name: "rotate",
      args: "rotate-key --dir $D/acme --kid orgsign-2",
      stdout: "Added key orgsign-2; new events are signed with it\n",
    });
    await workspace.sig(UPSERT.split(" "));
    const { stdout } = await workspace.sig(
      "verify $D/acme --format json".split(" "),
    );
    const report = JSON.parse(stdout);
    assertEquals(report.verified_events, 4);
    assertEquals(
      report.keys.map(({ kid }: { kid: string }) => kid),
      ["orgsign-1", "orgsign-2"],
    );
  });
});

Deno.test("a faulty feed is a no of verify, and no answer of the others", async () => {
  await withIssuer(async (workspace) => {
    const feed = workspace.path(FEED);
    const lines = (await Deno.readTextFile(feed)).split("\n");
    // The payload of line 3 in line 2: its signature does not fit.
    const [second, third] = [JSON.parse(lines[1]!), JSON.parse(lines[2]!)];
    lines[1] = JSON.stringify({ ...second, payload: third.payload });
    await Deno.writeTextFile(feed, lines.join("\n"));

    const place = "line 2, sequence 3, kid orgsign-1";
    const verified = await workspace.sig(["verify", "$D/acme"]);
    assertEquals(verified.code, 1);
    assertStringIncludes(
      verified.stdout,
      `invalid: signature_invalid at ${place}: `,
    );
    const report = await workspace.sig(
      ["verify", "$D/acme", "--format", "json"],
    );
    assertEquals([report.code, report.stderr], [1, ""]);
    assertEquals(JSON.parse(report.stdout).errors[0].code, "signature_invalid");
    for (
      const args of [
        `${CHECK} --require role=deploy`,
        "dump-state $D/acme",
        "log $D/acme --format json",
      ]
    ) {
      await runCase(workspace, {
        name: args,
        args,
        code: 2,
        stderr: ['"code":"signature_invalid"', '"line":2'],
      });
    }
    const before = await workspace.snapshot();
    await runCase(workspace, {
      name: "append",
      args: UPSERT,
      code: 2,
      stderr: ["next: sig verify <source> lists every fault"],
    });
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("unknown events and unmatched revokes are judged as told", async () => {
  await withIssuer(async (workspace) => {
    for (const policy of ["ignore", "reject"]) {
      await runCase(workspace, {
        name: policy,
        args:
          `verify $D/acme --unknown-events ${policy} --unmatched-revoke ${policy}`,
        stdout: ["valid: 3 events"],
      });
    }
    await runCase(workspace, {
      name: "neither",
      args: "verify $D/acme --unknown-events skip",
      code: 2,
      stderr: ["at flag --unknown-events"],
    });
  });
});

Deno.test("an issuer's DID has no port that its URLs don't show", async () => {
  await withIssuer(async (workspace) => {
    const hosts: readonly (readonly [string, string, string])[] = [
      ["b.example:443", "did:web:b.example", "b.example"],
      ["B.Example:8443", "did:web:b.example%3A8443", "b.example:8443"],
      ["127.0.0.1:80", "did:web:127.0.0.1", "127.0.0.1"],
      ["localhost:443", "did:web:localhost%3A443", "localhost:443"],
    ];
    for (const [host, issuer, folder] of hosts) {
      const { code, stdout } = await workspace.sig([
        ...["init", host, "--dir", `$D/${host}`, "--allow-insecure"],
        ...["--format", "json"],
      ]);
      assertEquals(code, 0);
      assertEquals(JSON.parse(stdout), {
        issuer,
        dir: `$D/${host}`,
        kid: "orgsign-1",
        key_file: `$D/keys/${folder}/orgsign-1.jwk`,
      });
      const file = workspace.path(`keys/${folder}/orgsign-1.jwk`);
      assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    }
  });
});

Deno.test("a feed put back from before is refused, and an amended revoke is warned of", async () => {
  await withIssuer(async (workspace) => {
    const feed = workspace.path("acme/.well-known/sig/events.jsonl");
    const upsert =
      "upsert --dir $D/acme --subject did:web:z.example --type employee --relationship-id z";
    const revoke =
      "revoke --dir $D/acme --relationship-id z --reason-code other";
    const sig = (words: string) => workspace.sig(words.split(" "));
    const before = await Deno.readTextFile(feed);
    await sig(upsert);
    await Deno.writeTextFile(feed, before);
    const refused = await sig(upsert);
    assertEquals([refused.code, refused.stdout], [2, ""]);
    assertStringIncludes(refused.stderr, "error: feed_rolled_back: ");
    assertEquals(await Deno.readTextFile(feed), before);
    assertEquals((await sig(`${upsert} --accept-rollback`)).code, 0);
    assertEquals((await sig(revoke)).stderr, "");
    const amended = await sig(`${revoke} --amend`);
    assertEquals(amended.code, 0);
    assertStringIncludes(amended.stderr, "warning: revoked_again: ");
  });
});
