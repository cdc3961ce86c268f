import { Hono } from "hono";
import type { ServiceEnv } from "@sig/api/internal/http";
import { SigError } from "@sig/core";
import { assertEquals } from "@std/assert";
import { refuseDirectly } from "./oauth.ts";
import { refusePage } from "./pages.ts";

/** An error of another version of this package. */
function errorOfAnotherVersion(): SigError {
  const error = new SigError("store_unavailable", { reason: "a new code" });
  return Object.assign(error, { code: "of_another_version" });
}

async function refusedBy(
  refuse: (...refused: Parameters<typeof refusePage>) => Response,
) {
  const app = new Hono<ServiceEnv>();
  app.onError((error, c) => refuse(c, error));
  app.get("/", () => {
    throw errorOfAnotherVersion();
  });
  const response = await app.request("/");
  return [response.status, await response.json()];
}

Deno.test("an error with an unknown code is answered as a failure of the server", async () => {
  const problem = {
    detail: "Cannot go on: an internal error occurred",
    type: "urn:sig:problem:internal",
    title: "Internal",
    code: "internal",
  };
  assertEquals(await refusedBy(refusePage), [500, { ...problem, status: 500 }]);
  assertEquals(await refusedBy(refuseDirectly), [503, {
    error: "temporarily_unavailable",
    error_description: "no answer: of_another_version; try again",
  }]);
});
