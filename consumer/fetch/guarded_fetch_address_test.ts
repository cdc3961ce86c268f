import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { guardedFetch } from "./guarded_fetch.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchText } from "../testdata/fetching.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";

// promise: https only, no redirect, no private address; connections go to the
//   checked addresses.

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/** A fetch without `allowPrivate`, as in production. */
function fetchStrictly(
  url: string,
  resolve?: (host: string) => Promise<readonly string[]>,
) {
  return guardedFetch(url, {
    maxBytes: 1000,
    tooLargeCode: "document_too_large",
    connectTimeoutMs: 30_000,
    resolve: resolve ??
      (() => Promise.reject(new Error("nothing may be resolved here"))),
  });
}

Deno.test("refuses private hosts in every spelling, before it connects", async () => {
  await using server = startRawServer(say(OK));
  for (
    const host of [
      ...["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0"],
      ...["0177.0.0.1", "１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1"],
      ...["%31%32%37.0.0.1", "127.0.0.1.", "10.0.0.1", "169.254.169.254"],
      ...["[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fd00::1]"],
      ...["localhost", "LOCALHOST", "localhost.", "a.localhost", "intranet"],
    ]
  ) {
    await expectSigError(
      () => fetchStrictly(`https://${host}:${server.port}/`),
      "address_not_allowed",
      "Cannot fetch from ",
    );
  }
  assertEquals(server.connections(), 0);
});

Deno.test("refuses other schemes, userinfo and malformed URLs", async () => {
  const rows: [string, ErrorCode, string][] = [
    ["http://acme.example/", "insecure_url", 'over "http:"'],
    ["file:///etc/hostname", "insecure_url", 'over "file:"'],
    ["data:application/json,{}", "insecure_url", 'over "data:"'],
    ["ftp://acme.example/", "insecure_url", 'over "ftp:"'],
    ["blob:https://acme.example/1", "insecure_url", 'over "blob:"'],
    ["https://me@acme.example/", "insecure_url", "a user name or password"],
    ["https://:pw@acme.example/", "insecure_url", "a user name or password"],
    ["https://", "invalid_identifier", "the URL is malformed"],
    ["acme.example", "invalid_identifier", "the URL is malformed"],
    ["https://acme.example:99999/", "invalid_identifier", "malformed"],
    ["https://acme.example:0/", "address_not_allowed", "port 0"],
    ["https://acme.example:25/", "address_not_allowed", "port 25"],
    ["https://acme.example:6667/", "address_not_allowed", "port 6667"],
  ];
  for (const [url, code, message] of rows) {
    await expectSigError(() => fetchStrictly(url), code, message);
  }
});

Deno.test("refuses userinfo and other schemes with allowPrivate too", async () => {
  for (const url of ["http://me:pw@127.0.0.1/", "file:///etc/hostname"]) {
    await expectSigError(() => fetchText(url), "insecure_url", "Cannot fetch");
  }
});

Deno.test("refuses a name if one of its addresses is not public (DNS rebinding)", async () => {
  await using server = startRawServer(say(OK));
  for (
    const answers of [
      ["127.0.0.1"],
      ["::1"],
      ["::ffff:127.0.0.1"],
      ["93.184.216.34", "127.0.0.1"],
      ["127.0.0.1", "93.184.216.34"],
      ["2606:4700::1111", "93.184.216.34", "fd00::1"],
      ["93.184.216.34", "localhost"],
      ["93.184.216.34", ""],
      ["0x7f.1"],
    ]
  ) {
    await expectSigError(
      () =>
        fetchStrictly(
          `https://acme.example:${server.port}/`,
          () => Promise.resolve(answers),
        ),
      "address_not_allowed",
      "the name leads to an address that is not public",
    );
  }
  assertEquals(server.connections(), 0);
});

Deno.test("resolves a name once and connects only to the vetted address", async () => {
  await using vetted = startRawServer(say(OK), "127.0.0.1");
  await using other = startRawServer(say(OK), "127.0.0.2", vetted.port);
  const resolved: string[] = [];
  // The name resolves to another address the second time.
  const resolve = (host: string) => {
    resolved.push(host);
    return Promise.resolve([resolved.length === 1 ? "127.0.0.1" : "127.0.0.2"]);
  };
  const url = `http://rebind.example:${vetted.port}/`;
  assertEquals(await fetchText(url, { resolve }), "{}");
  assertEquals(resolved, ["rebind.example"]);
  assertEquals([vetted.connections(), other.connections()], [1, 0]);
  assertEquals(
    /^host: (.*)$/im.exec(vetted.requests[0]!)?.[1],
    `rebind.example:${vetted.port}`,
  );
});

Deno.test("tries the next address if one does not respond", async () => {
  await using server = startRawServer(say(OK));
  const resolve = () => Promise.resolve(["127.0.0.9", "::1", "127.0.0.1"]);
  const url = `http://acme.example:${server.port}/`;
  assertEquals(await fetchText(url, { resolve }), "{}");
});

Deno.test("does not connect to an address that is not an IP literal, with allowPrivate either", async () => {
  await using server = startRawServer(say(OK));
  const resolve = () => Promise.resolve(["localhost"]);
  await expectSigError(
    () => fetchText(`http://acme.example:${server.port}/`, { resolve }),
    "address_not_allowed",
    "the name leads to an address that is not public",
  );
  assertEquals(server.connections(), 0);
});

Deno.test("a name without addresses is fetch_failed", async () => {
  const failing = Object.assign(new Error("secret text"), {
    code: "ENOTFOUND",
  });
  const url = "https://acme.example/";
  const none = await expectSigError(
    () => fetchStrictly(url, () => Promise.resolve([])),
    "fetch_failed",
    "the host name has no address",
  );
  assertEquals(none.context.kind, "dns");
  const error = await expectSigError(
    () => fetchStrictly(url, () => Promise.reject(failing)),
    "fetch_failed",
    "the host name does not resolve",
  );
  assertEquals(JSON.stringify(error.context).includes("secret"), false);
});

Deno.test("a resolver that does not respond is fetch_timeout", async () => {
  const error = await expectSigError(
    () =>
      fetchText("http://acme.example/", {
        resolve: () => new Promise(() => {}),
        connectTimeoutMs: 50,
      }),
    "fetch_timeout",
    "no connection within 50 ms",
  );
  assertEquals(error.context.limit_ms, 50);
});

Deno.test("the system's resolver and localhost work with allowPrivate", async () => {
  await using server = startRawServer(say(OK));
  assertEquals(await fetchText(`http://localhost:${server.port}/`), "{}");
});

Deno.test({
  name: "a missing network permission is fetch_failed, with a hint",
  permissions: { net: false },
  async fn() {
    const error = await expectSigError(
      () => fetchText("http://127.0.0.1:8/"),
      "fetch_failed",
      "this program may not connect",
    );
    assertEquals(error.context.kind, "permission");
    // The name can't be resolved either.
    const named = await expectSigError(
      () => fetchText("http://localhost:8/"),
      "fetch_failed",
      "this program may not connect",
    );
    assertEquals(
      named.context.hint,
      "Run it with --allow-net=localhost and the addresses of that name in " +
        "the same list, since it is resolved first; or with --allow-net alone.",
    );
  },
});
