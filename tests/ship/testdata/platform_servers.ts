/** Servers for the suites on other platforms. @module */

import {
  createFileStore,
  createMemoryKeyStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { createIssuerSite } from "../../../cli/site/issuer_site.ts";
import type { TestCertificate } from "../../kit/certificates.ts";
import {
  type Behaviour,
  say,
  send,
  startRawServer,
  untilClosed,
} from "../../kit/raw_server.ts";
import type { Servers } from "../../../tools/platform_suites/suite.ts";
import { serveLoopback } from "../../kit/loopback.ts";
import { ALICE } from "./loopback_issuer.ts";
import { tempFolder } from "../../kit/process.ts";

/** The name in the certificate of the TLS server. */
export const TLS_NAME = "acme.example";

/** Running servers. */
export interface PlatformServers extends AsyncDisposable {
  /** The addresses, for the suites' inputs. */
  readonly servers: Servers;
}

/** Starts an issuer, a server that breaks the rules, and an issuer over TLS. */
export async function startPlatformServers(
  certificate?: TestCertificate,
): Promise<PlatformServers> {
  await using running = new AsyncDisposableStack();
  const issuer = running.use(await startIssuer());
  const hostile = running.use(startRawServer(breakRules));
  const tls = certificate === undefined
    ? undefined
    : running.use(await startIssuer(certificate));
  const kept = running.move();
  return {
    servers: {
      issuer: `127.0.0.1:${issuer.port}`,
      subject: ALICE,
      hostile: `http://127.0.0.1:${hostile.port}`,
      ...tls === undefined ? {} : {
        tls: {
          port: tls.port,
          name: TLS_NAME,
          authority: certificate!.authority,
        },
      },
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Starts an issuer as `sig serve` does, with two additional routes. */
async function startIssuer(certificate?: TestCertificate) {
  const folder = await tempFolder();
  const feed = `${folder.path}/.well-known/sig/events.jsonl`;
  const site = createIssuerSite(folder.path);
  const { promise: ready, resolve } = Promise.withResolvers<
    () => Promise<unknown>
  >();
  const server = serveLoopback(async (request) => {
    const append = await ready;
    if (request.method !== "POST") return await site(request);
    if (request.url.endsWith("/append")) {
      await append();
    } else {
      const [line] = (await Deno.readTextFile(feed)).split("\n");
      await Deno.writeTextFile(feed, `${line}\n`);
    }
    return new Response("done", {
      headers: { "access-control-allow-origin": "*" },
    });
  }, certificate);
  const { port } = server;
  const host = certificate === undefined ? "127.0.0.1" : TLS_NAME;
  const store = createFileStore(folder.path);
  const keys = createMemoryKeyStore();
  const did = `did:web:${host}%3A${port}`;
  await initIssuer({ store, keys, did, allowPrivate: true });
  const issuer = await openIssuer({ store, keys, now: () => new Date() });
  const append = () =>
    issuer.append({
      event_type: "relationship.upsert",
      subject: ALICE,
      relationship_type: "employee",
      roles: ["deploy"],
    });
  await append();
  resolve(append);
  return {
    port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await issuer.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const CORS = "access-control-allow-origin: *\r\n";
const OK = `HTTP/1.1 200 OK\r\n${CORS}`;
const JSON_TYPE = "content-type: application/json\r\n";
const MEBIBYTE = 1024 * 1024;

const silence: Behaviour = (connection) => untilClosed(connection);

/** The responses at `/<name>/…`. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  "redirect": say(
    `HTTP/1.1 302 Found\r\n${CORS}location: /elsewhere\r\ncontent-length: 0\r\n\r\n`,
  ),
  "status-500": say(
    `HTTP/1.1 500 Oops\r\n${CORS}${JSON_TYPE}content-length: 2\r\n\r\n{}`,
  ),
  "html": say(`${OK}content-type: text/html\r\ncontent-length: 2\r\n\r\n{}`),
  "cut-length": say(`${OK}${JSON_TYPE}content-length: 99\r\n\r\n{`),
  "cut-chunk": say(
    `${OK}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n63\r\n{`,
  ),
  "unframed": say(`${OK}${JSON_TYPE}connection: close\r\n\r\n{`),
  "too-long": say(
    `${OK}${JSON_TYPE}content-length: ${MEBIBYTE}\r\n\r\n`,
    new Uint8Array(MEBIBYTE),
  ),
  "too-long-chunked": say(
    `${OK}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n100000\r\n`,
    new Uint8Array(MEBIBYTE),
    "\r\n0\r\n\r\n",
  ),
  "stalled": async (connection, request) => {
    await send(connection, `${OK}${JSON_TYPE}content-length: 99\r\n\r\n{`);
    await silence(connection, request);
  },
  "silent": silence,
  "bomb": async (connection, request) => {
    const zeros = new Blob([new Uint8Array(MEBIBYTE)]).stream();
    const packed = zeros.pipeThrough(new CompressionStream("gzip"));
    const body = await new Response(packed).bytes();
    const head = `${OK}${JSON_TYPE}content-encoding: gzip\r\n` +
      `content-length: ${body.length}\r\n\r\n`;
    await say(head, body)(connection, request);
  },
  "no-cors": say(
    `HTTP/1.1 200 OK\r\n${JSON_TYPE}content-length: 2\r\n\r\n{}`,
  ),
};

const breakRules: Behaviour = async (connection, request) => {
  const name = /^GET \/([\w-]+)\//.exec(request)?.[1] ?? "";
  await (BEHAVIOURS[name] ?? silence)(connection, request);
};
