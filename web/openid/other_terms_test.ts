import { createMemoryStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { readClients } from "./clients.ts";
import { Receiver } from "./testdata/fleet.ts";
import {
  assertRefused,
  REFUSED,
  TestProvider,
  usualClients,
} from "./testdata/test_provider.ts";

// promise: Servers on one host or store are separate; a session of weaker
//   requirements is invalid.

Deno.test("the watch ends sessions of another issuer or with fewer requirements and notifies their applications; other logins ignore both", async () => {
  for (const change of ["issuer", "require"] as const) {
    await using receiver = new Receiver();
    const store = createMemoryStore();
    await using before = await TestProvider.start({ store, receiver });
    const { person, browser, access_token } = await before.logIn();
    // This provider only shares the store.
    await using neighbour = await TestProvider.start({ store, receiver });
    assertEquals(await neighbour.watch(), { looked: 0, unanswered: 0 });
    const require = ["relationship=employee", "role=ops"];
    await using after = await TestProvider.start({
      ...{ store, receiver },
      ...(change === "require"
        ? { like: before, web: { require } }
        : { web: { audiences: [before.origin] } }),
    });
    after.issuerIsDown = true;
    assertRefused(await after.userinfo(access_token), REFUSED.token);
    assertEquals(await browser.silentError(after), "login_required");
    assertEquals(await after.watch(), { looked: 1, unanswered: 0 });
    assertEquals(await neighbour.deliver(), 0);
    assertEquals(await after.deliver(), 1);
    assertEquals(receiver.subjects, [person.did]);
  }
});

Deno.test("an application with new requirements gets nothing while the issuer fails", async () => {
  const entries = await usualClients();
  const read = () => readClients(JSON.stringify({ clients: entries }));
  let clients = read();
  await using provider = await TestProvider.start({
    settings: { clients: () => clients },
  });
  const { access_token } = await provider.logIn();
  provider.issuerIsDown = true;
  assertEquals((await provider.userinfo(access_token)).status, 200);
  entries[0]!.require = ["role=ops"];
  clients = read();
  assertRefused(await provider.userinfo(access_token), [
    503,
    "temporarily_unavailable",
  ]);
});
