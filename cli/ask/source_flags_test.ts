import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import {
  assertRan,
  type Ran,
  serveIssuer,
  testsWith,
  type Workspace,
} from "../testdata/workspace.ts";

type Handler = (request: Request) => Promise<Response> | Response;

interface Served {
  readonly workspace: Workspace;
  readonly host: string;
  readonly url: string;
  /** Replaces the responses of the issuer's server. */
  answer(handler: Handler): void;
  sig(words: string): Promise<Ran>;
}

/** Declares a test with an issuer of one employee on a real loopback server. */
const test = testsWith<Served>(async (workspace, work) => {
  let handler: Handler = createIssuerSite(workspace.path("acme"));
  await using server = await serveIssuer(
    workspace,
    "acme",
    (request) => handler(request),
  );
  const { host } = server;
  await workspace.ok(
    "upsert --dir $D/acme --subject did:web:alice.example --type employee --role deploy --relationship-id r1",
  );
  await work({
    workspace,
    host,
    url: `http://${host}/.well-known/sig.json`,
    answer: (other) => void (handler = other),
    sig: (words) => workspace.sig(`${words} --allow-insecure`),
  });
});

/** Returns a question that the issuer's events answer with allow. */
const question = (host: string, role = "deploy") =>
  `check --sig ${host} --subject did:web:alice.example --require role=${role}`;

test("verify, dump-state, check and log read an issuer over HTTP", async ({ host, sig, url }) => {
  const did = `did:web:${host.replace(":", "%3A")}`;
  for (const source of [host, did, url]) {
    assertEquals(await sig(`verify ${source}`), {
      code: 0,
      stdout:
        `valid: 1 event of ${did}, last sequence 1 (http, origin not proven)\n`,
      stderr: "",
    });
    const dump = await sig(`dump-state ${source}`);
    assertEquals([dump.code, dump.stderr], [0, ""]);
    const ids = Object.keys(JSON.parse(dump.stdout).by_relationship_id);
    assertEquals(ids, ["r1"]);
    const log = await sig(`log ${source} --format json`);
    assertEquals([log.code, log.stderr], [0, ""]);
    assertEquals(JSON.parse(log.stdout).relationship_id, "r1");
  }
  const allow = await sig(question(host));
  assertEquals(allow.code, 0);
  const answer = JSON.parse(allow.stdout);
  assertEquals([answer.source, answer.continuity], ["http", "consistent"]);
  assertRan(await sig(question(host, "admin")), { code: 1, stderr: "" });
});

test("text output warns of http without TLS", async ({ host, sig }) => {
  const warning =
    "warning: origin not proven: documents came by http, without TLS\n";
  for (
    const words of [
      question(host),
      ...["who", "dump-state", "log", "audit"].map((name) => `${name} ${host}`),
      `expiring ${host} --within 1d`,
      `diff ${host} --from 1 --to 1`,
    ]
  ) {
    const { code, stderr } = await sig(`${words} --format text`);
    assert(code < 2, stderr);
    assertEquals(stderr, warning, words);
    assertRan(await sig(`${words} --format json`), { code, stderr: "" });
  }
});

test("a private address is not requested without --allow-insecure", async ({ answer, host, url, workspace }) => {
  let asked = 0;
  answer(() => {
    asked++;
    return new Response();
  });
  await workspace.refused(`verify ${host}`, "error: address_not_allowed: ");
  await workspace.refused(`verify ${url}`, "error: insecure_url: ");
  assertEquals(asked, 0);
});

test("a missing DID document is a warning on stderr, or in the JSON report", async ({ host, sig, workspace }) => {
  await Deno.remove(workspace.path("acme/.well-known/did.json"));
  assertRan(await sig(`verify ${host}`), {
    err: "warning: did_document_missing: ",
  });
  const json = await sig(`verify ${host} --format json`);
  assertEquals([json.code, json.stderr], [0, ""]);
  const [warning] = JSON.parse(json.stdout).warnings;
  assertEquals(warning.code, "did_document_missing");
});

test("readers of a growing feed see only complete events", async ({ host, sig, workspace }) => {
  let writing = true;
  const writer = (async () => {
    for (let i = 0; i < 10; i++) {
      await workspace.ok(
        "upsert --dir $D/acme --subject did:web:b.example --type other --format json",
      );
    }
  })().finally(() => writing = false);
  let seen = 0;
  while (writing) {
    const { code, stdout } = await sig(`verify ${host} --format json`);
    assertEquals(code, 0, stdout);
    const { verified_events } = JSON.parse(stdout);
    assert(verified_events >= seen);
    seen = verified_events;
  }
  await writer;
  const { stdout } = await sig(`verify ${host}`);
  assertStringIncludes(stdout, "valid: 11 events");
});

test("a URL without a sig.json gets a hint to name the host", async ({ host, sig, url }) => {
  const { code, stderr } = await sig(`verify http://${host}/`);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "error: fetch_status");
  const hint = `hint: A URL names a sig.json; to ask the host write ${host}.`;
  assertStringIncludes(stderr, hint);
  const missing = await sig(`verify ${url.replace("sig.json", "x.json")}`);
  assertEquals([missing.code, missing.stderr.includes("hint")], [2, false]);
});
