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

test("log prints each event once if another process reads a new event meanwhile", async ({ answer, host, sig, workspace }) => {
  const site = createIssuerSite(workspace.path("acme"));
  await sig(question(host));
  let isFirst = true;
  answer(async (request) => {
    const response = await site(request);
    if (!request.url.endsWith(".jsonl") || !isFirst) return response;
    isFirst = false;
    const body = await response.bytes();
    await workspace.ok(
      "upsert --dir $D/acme --subject did:web:b.example --type other",
    );
    assertRan(await sig(question(host)), { out: '"last_sequence": 2' });
    return new Response(body, response);
  });
  const { stdout } = await sig(`log ${host}`);
  assertEquals(stdout.match(/^#\d+/gm), ["#1", "#2"]);
});
