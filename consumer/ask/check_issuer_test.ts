import { turns } from "../../tests/kit/wait.ts";
import type { AskedRequirements } from "@sig/core";
import type { CheckAnswer, ErrorCode } from "@sig/core";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import type { IssuerQuestion } from "./answer_from.ts";
import { checkIssuer } from "./check_issuer.ts";
import { openSource, parseSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type IssuerServer,
  startIssuerServer,
} from "../../tests/kit/issuer_server.ts";
import {
  ALICE,
  importTestKeys,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key1] = await importTestKeys();
const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;
const POLICY = { allowPrivate: true, totalTimeoutMs: 30_000 };

/** Starts a server of an issuer that allows the question. */
async function publish(): Promise<IssuerServer> {
  const server = startIssuerServer();
  const { did, origin } = server;
  const lines = await makeLines(2, key1!, { issuer: did });
  const documents = makeDocuments({ did, origin, keys: [key1!], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  return server;
}

function ask(
  server: Pick<IssuerServer, "did">,
  question: IssuerQuestion = QUESTION,
): Promise<CheckAnswer> {
  const source = parseSource(server.did, POLICY);
  return checkIssuer(openSource(source, POLICY), question, { now: NOW });
}

Deno.test("an answer has the members of docs/protocol.md §5, in that order", async () => {
  await using server = await publish();
  const answer = await ask(server);
  assertEquals(answer, {
    decision: "allow",
    subject: ALICE,
    requirements: [{ key: "role", value: "deploy" }],
    matched_relationship_id: "rel-2",
    last_sequence: 2,
    issuer: server.did,
    reasons: [],
    evaluated_at: "2026-06-01T00:00:00Z",
    at: null,
    as_of: null,
    not_after: null,
    source: "http",
    freshness: {
      observed_at: "2026-06-01T00:00:00Z",
      age_seconds: 0,
      max_age_seconds: 60,
      status: "fresh",
    },
    continuity: "unpinned",
    warnings: [],
    proof: null,
  });
  assertEquals(Object.keys(answer).slice(0, 5), [
    "decision",
    "subject",
    "requirements",
    "matched_relationship_id",
    "last_sequence",
  ]);
});

Deno.test("an answer from a directory has the source `local` and no freshness", async () => {
  await using unpacked = await unpackedFeed("did-missing");
  const { path } = unpacked;
  const answer = await checkIssuer(
    openSource({ kind: "directory", path }),
    { ...QUESTION, explain: true },
    { now: NOW },
  );
  assertEquals([answer.source, answer.freshness], ["local", null]);
  assertEquals(answer.warnings.map(({ code }) => code), [
    "did_document_missing",
  ]);
  assertEquals(answer.explain?.relationships.length, 1);
});

Deno.test("a malformed question causes no request", async () => {
  await using server = await publish();
  const rows: readonly (readonly [IssuerQuestion, ErrorCode, string])[] = [
    [
      { ...QUESTION, require: [] as unknown as AskedRequirements },
      "requirements_empty",
      "at least one",
    ],
    [{ ...QUESTION, subject: "" }, "invalid_identifier", "Cannot check: "],
    [{ ...QUESTION, asOf: 0 }, "invalid_request", "Cannot use as_of"],
    [
      { ...QUESTION, as_of: 1 } as IssuerQuestion,
      "invalid_request",
      'there is no member "as_of"; did you mean "asOf"?',
    ],
    // The error does not depend on the length of the feed.
    [{ ...QUESTION, asOf: 9, at: "now" }, "invalid_request", "Cannot use at"],
  ];
  for (const [question, code, message] of rows) {
    await expectSigError(() => ask(server, question), code, message);
  }
  assertEquals(server.requests, []);
});

Deno.test("a signal ends the wait with its reason", async () => {
  await using server = await publish();
  const stop = new AbortController();
  server.documents.set(PATHS.jwks, async () => {
    stop.abort("enough");
    await turns(3);
    return new Response("{}");
  });
  const reason = (signal: AbortSignal) =>
    ask(server, { ...QUESTION, signal } as IssuerQuestion)
      .catch((error) => error);
  assertEquals(await reason(stop.signal), "enough");
  server.requests.length = 0;
  assertEquals(await reason(stop.signal), "enough");
  assertEquals(server.requests, []);
});

Deno.test("accepts an issuer as a host, a DID, a URL, or a source", async () => {
  await using server = await publish();
  const { did, origin } = server;
  const host = origin.replace("http://", "");
  for (
    const issuer of [
      ...[host, did, origin + PATHS.metadata],
      parseSource(host, { allowPrivate: true }),
    ]
  ) {
    const options = { allowPrivate: true };
    const answer = await checkIssuer(issuer, QUESTION, options);
    assertEquals([answer.issuer, answer.decision], [did, "allow"]);
  }
});

Deno.test("rejects a folder name, and a private host without allowPrivate", async () => {
  const error = await expectSigError(
    () => checkIssuer("./acme.example", QUESTION),
    "invalid_identifier",
    "it must be a did:web, a host name or an https URL",
  );
  assertEquals(error.hint, error.context.hint);
  const refused = await expectSigError(
    () => checkIssuer("127.0.0.1:8080", QUESTION),
    "address_not_allowed",
    "Cannot",
  );
  assertStringIncludes(refused.hint ?? "", "set allowPrivate");
});
