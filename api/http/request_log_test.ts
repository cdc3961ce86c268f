import { assert, assertEquals } from "@std/assert";
import { formatLogEntry, type RequestLogEntry } from "./request_log.ts";

// promise: Nothing that a client sends forges a line or a field of the log.

const ENTRY: RequestLogEntry = {
  time: "2026-01-01T00:00:00.000Z",
  level: "error",
  service: "sig-api",
  request_id: "r1",
  method: "GET",
  path: "/a",
  status: 500,
  duration_ms: 3,
  client: "192.0.2.1",
  code: "internal",
  error: "Error: why\n  at place",
};

Deno.test("an entry is one JSON value, or text for people", () => {
  assertEquals(JSON.parse(formatLogEntry(ENTRY, "json")), ENTRY);
  assertEquals(
    formatLogEntry(ENTRY, "text"),
    "2026-01-01T00:00:00.000Z GET /a 500 internal 3ms r1 Error: why\\u000a  at place\n",
  );
});

Deno.test("client text can't forge a field of the text format", () => {
  const forged = 'r1 2026-01-01T00:00:01.000Z POST /admin 200 1ms "r2"';
  const line = (request_id: string) =>
    formatLogEntry({ ...usual(), request_id }, "text");
  const start = "2026-01-01T00:00:00.000Z GET /v1/check 200 3ms ";
  assertEquals(line(forged), `${start}${JSON.stringify(forged)}\n`);
  assertEquals(line("a\tb"), `${start}"a\\tb"\n`);
  assertEquals(line("a\u00a0b"), `${start}"a\u00a0b"\n`);
  assertEquals(line(""), `${start}""\n`);
  assertEquals(
    formatLogEntry({ ...usual(), method: 'G"T', path: "/a b" }, "text"),
    '2026-01-01T00:00:00.000Z "G\\"T" "/a b" 200 3ms r1\n',
  );
});

const HOSTILE = [
  ...["/\n{}", "/\r\nx", "/\u001b[2J", "/\u0007", "/\u009b31m", "/\u202e"],
  ...["/\u2028", '/","code":"x', "/\u0000", "/\u007f"],
];

Deno.test("an entry is one line without control characters, whatever a client sends", () => {
  for (const path of HOSTILE) {
    for (const format of ["json", "text"] as const) {
      const entry = { ...ENTRY, path, request_id: path, error: path };
      const line = formatLogEntry(entry, format);
      assert(line.endsWith("\n"));
      assert(
        // deno-lint-ignore no-control-regex -- control characters are the point
        !/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/.test(line.slice(0, -1)),
        JSON.stringify(line),
      );
      if (format === "json") assertEquals(JSON.parse(line), entry);
    }
  }
});

function usual(): RequestLogEntry {
  const { error: _, code: __, ...entry } = ENTRY;
  return { ...entry, level: "info", path: "/v1/check", status: 200 };
}
