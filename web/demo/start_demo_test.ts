import { assertRejects } from "@std/assert";
import { SigError } from "@sig/core";
import { testKeys } from "../openid/testdata/test_provider.ts";
import { startDemo } from "./start_demo.ts";

Deno.test("a demo at an address that no did:web can name says so", async () => {
  const keys = await testKeys();
  await assertRejects(
    () =>
      startDemo({
        address: { hostname: "::1", port: 8788 },
        url: "http://[::1]:8788",
        audiences: ["http://[::1]:8788"],
        settings: { clients: () => new Map(), keys },
        serve: () => Promise.reject(new Error("it listens already")),
        now: () => new Date(),
        ...{ require: undefined, scopes: [], log: undefined },
      }),
    SigError,
    "Cannot run: --demo makes an issuer at --addr, and no did:web names an IPv6 address",
  );
});
