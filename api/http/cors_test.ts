import { assertEquals } from "@std/assert";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { createCors } from "./cors.ts";

const APP = "https://app.acme.example";

function from(origin?: string, init: RequestInit = {}): Request {
  const headers = new Headers(init.headers);
  if (origin !== undefined) headers.set("origin", origin);
  return new Request("http://127.0.0.1/", { ...init, headers });
}

Deno.test("without origins no CORS header is ever sent", () => {
  const cors = createCors([]);
  assertEquals(cors.headersFor(from(APP)), []);
  assertEquals(
    cors.isPreflight(from(APP, {
      method: "OPTIONS",
      headers: { "access-control-request-method": "POST" },
    })),
    false,
  );
});

Deno.test("an allowed origin is named, any other only varies the response", () => {
  const cors = createCors([APP, "http://localhost:3000"]);
  assertEquals(Object.fromEntries(cors.headersFor(from(APP))), {
    "vary": "origin",
    "access-control-allow-origin": APP,
    "access-control-expose-headers": "x-request-id, retry-after",
  });
  const others = ["https://evil.example", "null", `${APP}.evil.example`, "*"];
  for (
    const origin of [...others, APP.toUpperCase(), `${APP}:444`, undefined]
  ) {
    assertEquals(cors.headersFor(from(origin)), [["vary", "origin"]], origin);
  }
});

Deno.test("a preflight is an OPTIONS of an allowed origin that asks for a method", () => {
  const cors = createCors([APP]);
  const headers = { "access-control-request-method": "POST" };
  const is = (request: Request) => cors.isPreflight(request);
  assertEquals(is(from(APP, { method: "OPTIONS", headers })), true);
  assertEquals(is(from(APP, { method: "OPTIONS" })), false);
  assertEquals(is(from(APP, { method: "POST", headers })), false);
  assertEquals(is(from(undefined, { method: "OPTIONS", headers })), false);
  assertEquals(
    is(from("https://b.example", { method: "OPTIONS", headers })),
    false,
  );
});

Deno.test("what is no origin can't be allowed", () => {
  const bad = ["", "*", "null", "app.acme.example", `${APP}/`, `${APP}/path`];
  const more = [
    `${APP}:443`,
    "HTTPS://APP.ACME.EXAMPLE",
    "https://u@a.example",
  ];
  for (const origin of [...bad, ...more, "data:,x", " https://a.example"]) {
    const { context } = assertSigError(
      () => createCors([origin]),
      "invalid_request",
      `Cannot allow origin ${JSON.stringify(origin)}: it must be an origin`,
    );
    assertEquals(context.flag, "--cors-origin");
  }
});
