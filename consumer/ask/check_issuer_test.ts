import type { CheckAnswer, ErrorCode } from "@sig/core";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import type { IssuerQuestion } from "./answer_from.ts";
import { checkIssuer } from "./check_issuer.ts";
import { openSource, parseSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type IssuerServer,
  startIssuerServer,
  status,
} from "../../tests/kit/issuer_server.ts";
import {
  ALICE,
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";

const [key1, key2, stranger] = await importTestKeys();
const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;
const POLICY = { allowPrivate: true, totalTimeoutMs: 30_000 };

/** A server that publishes an issuer who says yes to the question. */
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

Deno.test("an answer has the members of docs/protocol.md §5, in their order", async () => {
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

Deno.test("an answer from a directory proves no origin and has no freshness", async () => {
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

Deno.test("whom a question is about is not told to the issuer", async () => {
  await using server = await publish();
  await ask(server);
  assertEquals(server.requests.toSorted(), Object.values(PATHS).toSorted());
});

/** A way for a step of the consumer to fail. */
interface Fault {
  readonly step: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly break: (server: IssuerServer) => unknown;
}

function replaceIn(
  server: IssuerServer,
  path: string,
  from: string,
  to: string,
) {
  const text = server.documents.get(path);
  assert(typeof text === "string" && text.includes(from));
  server.documents.set(path, text.replace(from, to));
}

const FAULTS: readonly Fault[] = [
  {
    step: "the host answers with an error",
    code: "fetch_status",
    message: "the server answered with status 503",
    break: ({ documents }) => documents.set(PATHS.metadata, status(503)),
  },
  {
    step: "the host redirects",
    code: "fetch_redirected",
    message: "redirects are not followed",
    break: ({ documents, origin }) =>
      documents.set(
        PATHS.metadata,
        () => Response.redirect(`${origin}/elsewhere`, 302),
      ),
  },
  {
    step: "the host sends a page",
    code: "fetch_media_type",
    message: "the server sent",
    break: ({ documents }) =>
      documents.set(
        PATHS.metadata,
        () =>
          new Response("<html>", { headers: { "content-type": "text/html" } }),
      ),
  },
  {
    step: "the metadata is no JSON",
    code: "invalid_metadata",
    message: "Cannot read sig.json: ",
    break: ({ documents }) => documents.set(PATHS.metadata, "{"),
  },
  {
    step: "the metadata speaks for another issuer",
    code: "issuer_mismatch",
    message: "Cannot trust metadata: ",
    break: (server) =>
      replaceIn(server, PATHS.metadata, server.did, "did:web:other.example"),
  },
  {
    step: "the metadata leads elsewhere",
    code: "invalid_metadata",
    message: "must be on the origin of sig.json",
    break: (server) =>
      replaceIn(
        server,
        PATHS.metadata,
        `${server.origin}${PATHS.feed}`,
        "https://other.example/feed",
      ),
  },
  {
    step: "the key set is missing",
    code: "fetch_status",
    message: "the server answered with status 404",
    break: ({ documents }) => documents.delete(PATHS.jwks),
  },
  {
    step: "the key set publishes a secret",
    code: "private_key_in_jwks",
    message: "it publishes a secret",
    break: (server) => replaceIn(server, PATHS.jwks, '"x"', '"d":"AA","x"'),
  },
  {
    step: "the DID document can't be had",
    code: "fetch_status",
    message: "the server answered with status 500",
    break: ({ documents }) => documents.set(PATHS.did, status(500)),
  },
  {
    step: "the DID document does not authorise the key",
    code: "key_not_authorized",
    message: "the DID document's assertionMethod does not list it",
    break: (server) =>
      replaceIn(
        server,
        PATHS.did,
        '"assertionMethod"',
        '"authentication"',
      ),
  },
  {
    step: "the feed is missing",
    code: "fetch_status",
    message: "the server answered with status 404",
    break: ({ documents }) => documents.delete(PATHS.feed),
  },
  {
    step: "the feed is cut off",
    code: "incomplete_line",
    message: "Cannot verify feed: ",
    break: ({ documents }) => {
      const feed = documents.get(PATHS.feed);
      assert(feed instanceof Uint8Array);
      documents.set(PATHS.feed, feed.slice(0, -1));
    },
  },
  {
    step: "an event is signed by a stranger",
    code: "signature_invalid",
    message: "Cannot verify feed: it is not a signature of key",
    break: async ({ documents, did }) => {
      const line = await lineOf(upsert(1, { issuer: did }), stranger);
      documents.set(PATHS.feed, `${line}\n`);
    },
  },
  {
    step: "an event is signed by an unknown key",
    code: "key_not_found",
    message: "Cannot verify feed: the key set has no such key",
    break: async ({ documents, did }) => {
      const line = await lineOf(upsert(1, { issuer: did }), key2);
      documents.set(PATHS.feed, `${line}\n`);
    },
  },
  {
    step: "an event breaks a rule",
    code: "invalid_field",
    message: "Cannot verify feed: /roles must be an array of strings",
    break: async ({ documents, did }) => {
      const event = upsert(1, { issuer: did, roles: null });
      documents.set(PATHS.feed, `${await lineOf(event, key1)}\n`);
    },
  },
  {
    step: "an event is missing",
    code: "sequence_gap",
    message: "Cannot verify feed: sequence jumps from 0 to 2",
    break: async ({ documents, did }) => {
      const line = await lineOf(upsert(2, { issuer: did }), key1);
      documents.set(PATHS.feed, `${line}\n`);
    },
  },
];

for (const fault of FAULTS) {
  Deno.test(`when ${fault.step}, there is an error and no decision`, async () => {
    await using server = await publish();
    await fault.break(server);
    const error = await expectSigError(
      () => ask(server),
      fault.code,
      fault.message,
    );
    assert(!("decision" in error), "an error is not an answer");
  });
}

Deno.test("when the connection breaks off within the feed, there is an error and no decision", async () => {
  const documents = new Map<string, string | Uint8Array>();
  await using server = startRawServer(async (connection, request) => {
    const path = request.split(" ")[1] ?? "";
    const bytes = documents.get(path) ?? "";
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.length}\r\n` +
      "content-type: application/json\r\nconnection: close\r\n\r\n";
    const isFeed = path === PATHS.feed;
    await say(head, isFeed ? bytes.slice(0, 100) : bytes)(connection, request);
  });
  const did = `did:web:127.0.0.1%3A${server.port}`;
  const origin = `http://127.0.0.1:${server.port}`;
  const lines = await makeLines(2, key1, { issuer: did });
  for (
    const [path, text] of makeDocuments({ did, origin, keys: [key1], lines })
  ) documents.set(path, text);
  const error = await expectSigError(
    () => ask({ did }),
    "fetch_failed",
    "the connection was closed before the answer was complete",
  );
  assertEquals(error.category, "unavailable");
});

for (const cut of ["metadata", "jwks", "did", "feed"] as const) {
  Deno.test(`when nobody says where the ${cut} ends, there is an error and no decision`, async () => {
    const documents = new Map<string, string | Uint8Array>();
    await using server = startRawServer(async (connection, request) => {
      const path = request.split(" ")[1] ?? "";
      const bytes = documents.get(path) ?? "";
      const length = path === PATHS[cut]
        ? ""
        : `content-length: ${bytes.length}\r\n`;
      const head = `HTTP/1.1 200 OK\r\n${length}connection: close\r\n\r\n`;
      await say(head, bytes)(connection, request);
    });
    const did = `did:web:127.0.0.1%3A${server.port}`;
    const origin = `http://127.0.0.1:${server.port}`;
    // The first of two events: what a cut before the revoke leaves.
    const [line] = await makeLines(2, key1, { issuer: did });
    const lines = [line!];
    for (
      const [path, text] of makeDocuments({ did, origin, keys: [key1], lines })
    ) documents.set(path, text);
    await expectSigError(
      () => ask({ did }),
      "fetch_failed",
      "the server did not say where the body ends, so it may have been cut",
    );
  });
}

Deno.test("when nobody listens, there is an error and no decision", async () => {
  let did;
  {
    await using server = startIssuerServer();
    did = server.did;
  }
  const error = await expectSigError(
    () => ask({ did }),
    "fetch_failed",
    "the connection was refused",
  );
  assertEquals(error.category, "unavailable");
});

Deno.test("a question that is wrong by itself fetches nothing", async () => {
  await using server = await publish();
  const rows: readonly (readonly [IssuerQuestion, ErrorCode, string])[] = [
    [{ subject: ALICE, require: [] }, "requirements_empty", "at least one"],
    [
      { subject: ALICE, require: ["title=boss"] },
      "invalid_requirement",
      "Cannot use requirement: ",
    ],
    [
      { subject: ALICE, require: [{ role: "a", relationship: "b" }] },
      "invalid_requirement",
      "Cannot use requirement: ",
    ],
    [{ ...QUESTION, subject: "" }, "invalid_identifier", "Cannot check: "],
    [{ ...QUESTION, at: "2026-01-01" }, "invalid_request", "Cannot judge at"],
    [
      { ...QUESTION, asOf: "yesterday" },
      "invalid_request",
      "Cannot judge as_of",
    ],
    [{ ...QUESTION, asOf: 0 }, "invalid_request", "Cannot judge as_of"],
    // Whether the feed reaches that sequence does not matter.
    [{ ...QUESTION, asOf: 9, at: "now" }, "invalid_request", "Cannot judge at"],
  ];
  for (const [question, code, message] of rows) {
    await expectSigError(() => ask(server, question), code, message);
  }
  assertEquals(server.requests, []);
});

Deno.test("an answer that the feed can't give is an error", async () => {
  await using server = await publish();
  await expectSigError(
    () => ask(server, { ...QUESTION, asOf: 3 }),
    "consistency_unavailable",
    "Cannot judge as of sequence 3: the feed ends at 2",
  );
});

Deno.test("an issuer is asked by its host, its DID, its URL, or a source", async () => {
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

Deno.test("the name of a folder is not an issuer, and a private host needs consent", async () => {
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
  assertStringIncludes(refused.hint ?? "", "allow-insecure");
});
