import { openPinStore } from "@sig/consumer/pins";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { assertSigError, expectSigError } from "../../tests/kit/sig_errors.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { createProcessIo, type ProcessIo } from "./io.ts";
import { parseFlags } from "./parse_flags.ts";
import { findExposure, readServerFlags, SERVER_FLAGS } from "./server_flags.ts";
import { parseAddress } from "./values.ts";

// promise: A setting that makes a server public disables the rules for a local
//   one.

const OWN = [
  { name: "addr", value: "HOST:PORT", help: "" },
  { name: "audience", value: "ORIGIN|DID", help: "", repeat: true as const },
  { name: "public-url", value: "ORIGIN", help: "" },
];

function readAll(words: readonly string[], io: Partial<ProcessIo> = {}) {
  const flags = [...OWN, ...SERVER_FLAGS];
  const given = parseFlags(words, { flags, seeHelp: "" });
  return readServerFlags(given, "127.0.0.1:8787", {
    ...createProcessIo(),
    isTerminal: () => false,
    ...io,
  });
}

function settingsOf(words: readonly string[], isTerminal = false) {
  const io = { isTerminal: () => isTerminal };
  const { openPins: _, ...settings } = readAll(words, io);
  return settings;
}

const read = (...words: readonly string[]) => settingsOf(words);

Deno.test("a server is reachable only from this machine (default)", () => {
  assertEquals(read(), {
    address: { hostname: "127.0.0.1", port: 8787 },
    isLocal: true,
    exposure: undefined,
    log: "json",
    service: {
      allowPrivate: false,
      hosts: ["localhost", "127.0.0.1", "[::1]", "127.0.0.1"],
      rateLimit: undefined,
      trustProxy: [],
      onlyLocal: true,
      maxConcurrent: undefined,
    },
  });
});

Deno.test("flags set their options", () => {
  const settings = read(
    ...["--rate-limit", "20/s", "--max-concurrent", "7", "--log", "off"],
    ...["--trust-proxy", "10.0.0.0/8", "--trust-proxy", "::1/128"],
  );
  assertEquals(settings.log, "off");
  const { rateLimit, maxConcurrent, trustProxy } = settings.service;
  assertEquals([rateLimit, maxConcurrent], [{ perSecond: 20 }, 7]);
  assertEquals(trustProxy, ["10.0.0.0/8", "::1/128"]);
  assertEquals(read("--allow-insecure").service.allowPrivate, true);
});

Deno.test("the log format on a terminal is text (default)", () => {
  const logOf = (...words: readonly string[]) => settingsOf(words, true).log;
  assertEquals(logOf(), "text");
  assertEquals(logOf("--log", "json"), "json");
  assertEquals(read().log, "json");
});

Deno.test("on loopback only known names are answered", () => {
  for (
    const [address, own] of [
      ["localhost:1", "localhost"],
      ["127.0.0.2:1", "127.0.0.2"],
      ["[::1]:1", "[::1]"],
      ["[0:0:0:0:0:0:0:1]:1", "[0:0:0:0:0:0:0:1]"],
    ] as const
  ) {
    const { isLocal, service } = read("--addr", address, "--host", "a.example");
    const { hosts } = service;
    assertEquals(isLocal, true, address);
    assertEquals(hosts, ["localhost", "127.0.0.1", "[::1]", own, "a.example"]);
  }
});

Deno.test("on another address every name is answered, unless --host is given", () => {
  const addresses = ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "a.example:1"];
  for (const address of [...addresses, "[::ffff:127.0.0.1]:1"]) {
    assertEquals(read("--addr", address).isLocal, false, address);
    assertEquals(read("--addr", address).service.hosts, undefined);
    const named = read("--addr", address, "--host", "a.example");
    assertEquals(named.service.hosts, ["a.example"]);
  }
});

Deno.test("rejects invalid numbers and addresses", () => {
  const rate = "--rate-limit must be a number of requests a second";
  const count = "--max-concurrent must be a number from 1 to 999999";
  const insecure =
    "--allow-insecure is for servers that only this machine can reach";
  const rows: readonly (readonly [readonly string[], string])[] = [
    ...["0/s", "20", "1.5/s", "-1/s", "20/m", "1e3/s", " 20/s", "9999999/s"]
      .map(
        (value) => [[`--rate-limit=${value}`], rate] as const,
      ),
    ...["0", "-1", "1.5", "1e3", "1000000", " 5", "five"].map(
      (value) => [[`--max-concurrent=${value}`], count] as const,
    ),
    ...[
      ...["--addr=0.0.0.0:1", "--addr=[::ffff:127.0.0.1]:1"],
      ...["--trust-proxy=10.0.0.0/8", "--host=acme.example"],
      ...["--audience=https://acme.example", "--public-url=https://a.example"],
    ].map((word) => [[word, "--allow-insecure"], insecure] as const),
    [["--addr", "1"], '--addr "1" must be host:port'],
  ];
  for (const [words, why] of rows) {
    const { context } = assertSigError(
      () => read(...words),
      "invalid_request",
      `Cannot run: ${why}`,
    );
    assertEquals(typeof context.flag, "string");
  }
});

/** Values that name only this machine. */
const LOCAL: { readonly [flag: string]: readonly string[] } = {
  audience: [
    "http://localhost:8788",
    "https://127.0.0.1:8443",
    "http://[::1]:1",
    "did:web:localhost%3A8788",
    "did:web:127.0.0.1%3a1:alice",
  ],
  "public-url": ["http://127.0.0.1:8787"],
  host: ["localhost", "127.0.0.2:80", "[::1]", "[0:0:0:0:0:0:0:1]:1"],
};

Deno.test("settings that name only this machine do not expose a server", () => {
  assertEquals(
    findExposure(parseAddress("[::1]:1"), flagsOf(LOCAL)),
    undefined,
  );
});

/** Returns flags with these values. */
function flagsOf(values: { readonly [flag: string]: readonly string[] }) {
  return { texts: (flag: string) => values[flag] ?? [] };
}

/** Values that make a server public. */
const PUBLIC: { readonly [flag: string]: readonly string[] } = {
  audience: [
    "https://login.acme.example",
    "http://localhost.acme.example",
    "http://127.0.0.1.acme.example",
    "https://localhost@acme.example",
    "http://10.0.0.1",
    "http://[::ffff:127.0.0.1]",
    "did:web:acme.example",
    "did:web:localhost.acme.example",
    "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    "did:web:",
    "",
  ],
  "public-url": ["https://api.acme.example", "nonsense", ""],
  "trust-proxy": ["10.0.0.0/8", "127.0.0.1/32"],
  host: [
    ...["acme.example", "acme.example:8787", "192.0.2.1"],
    ...["[2001:db8::1]", "x y"],
  ],
};

Deno.test("each public setting exposes a server, even on a loopback address", () => {
  const local = parseAddress("127.0.0.1:0");
  for (const [flag, values] of Object.entries(PUBLIC)) {
    for (const value of values) {
      const given = { ...LOCAL, [flag]: [...LOCAL[flag] ?? [], value] };
      const found = findExposure(local, flagsOf(given));
      assertEquals(found, { flag: `--${flag}`, value });
    }
  }
  const exposure = { flag: "--addr", value: "0.0.0.0" };
  assertEquals(findExposure(parseAddress("0.0.0.0:1"), flagsOf({})), exposure);
});

Deno.test("a pin store that can't be used prevents the start, and the error has its place", async () => {
  await expectSigError(
    () => readAll(["--pins", "redis://127.0.0.1:1"]).openPins(),
    "store_unavailable",
    "127.0.0.1:1",
  );
  await expectSigError(
    () => readAll(["--require-pin"]).openPins(),
    "invalid_request",
    "Cannot run: --require-pin goes with --pins",
  );
});

// promise: Only the operator sees the store's place.
Deno.test("the errors of a public server don't show the place of its store; its log does", async () => {
  await using folder = await tempFolder();
  for (const words of [[], ["--host", "api.acme.example"]]) {
    const path = `${folder.path}/${words.length}.db`;
    await (await openPinStore(path)).close();
    let log = "";
    const stderr = (text: string) => void (log += text);
    const { pins } = await readAll([...words, "--pins", path], { stderr })
      .openPins();
    const file = new DatabaseSync(path);
    file.exec("DROP TABLE record");
    file.close();
    const isPublic = words.length > 0;
    const { context } = await expectSigError(
      () => pins!.get({ name: "pin" }, "did:web:acme.example", new Date(0)),
      "store_unavailable",
      `Cannot use store ${isPublic ? "of this server" : path}: `,
    );
    assertEquals(context.place, isPublic ? "of this server" : path);
    if (isPublic) assertStringIncludes(log, `Cannot use store ${path}`);
    await pins!.close();
  }
});
