import { storeUnavailable } from "@sig/consumer/store";
import { assertEquals, assertRejects } from "@std/assert";
import type { Standing } from "../login/login_gate.ts";
import { createAssessment, SessionNotEnded } from "./assess.ts";

const STANDING: Standing = {
  issuer: "did:web:acme.example",
  relationship_id: "r1",
  type: "employee",
  roles: ["ops"],
  sequence: 1,
};
const SESSION = { sid: "s1", subject: "did:key:z6Mk", standing: STANDING };

Deno.test("a deny that the store could not be told is told from an issuer that can't be asked", async () => {
  const fail = () =>
    Promise.reject(storeUnavailable("in memory", "it takes no writes"));
  const sessions = { end: fail, leave: fail, learn: fail };
  for (const server of [undefined, { ...STANDING, roles: [] }]) {
    const assess = createAssessment({
      // What only the application requires is denied in any case.
      ask: {
        standing: (_subject, further) =>
          Promise.resolve(further?.require === undefined ? server : undefined),
      },
      sessions,
    });
    const error = await assertRejects(
      () => assess(SESSION, { client_id: "ops", require: ["role=ops"] }),
      SessionNotEnded,
      "Cannot end session: the store can't be asked",
    );
    assertEquals(error.code, "store_unavailable");
  }
});
