/**
 * Several processes of one provider over one store, with an issuer and an
 * application.
 */

import { decodeJwt } from "jose";
import { createDemoIssuer, type DemoIssuer } from "../../demo/demo_issuer.ts";
import { Person } from "../../testdata/independent_client.ts";
import { type ServerOfFolder, startServer } from "./server.ts";
import {
  Browser,
  clientsWithLogout,
  documentOf,
  SECRET,
  testKeysText,
  TestProvider,
} from "./test_provider.ts";
import { serveLoopback } from "../../../tests/kit/loopback.ts";
import { tempFolder } from "../../../tests/kit/process.ts";
import { waitUntil } from "../../../tests/kit/wait.ts";

/** The public origin of all processes; nothing listens there. */
const FLEET_ORIGIN = "http://127.0.0.1:8788";

/** A process with the methods of a test provider. */
export class Replica extends TestProvider {
  readonly server: ServerOfFolder;

  constructor(server: ServerOfFolder) {
    super();
    this.server = server;
    this.origin = server.url;
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.server.stop();
  }
}

/** An application that receives logout tokens; `hear` returns each status. */
export class Receiver {
  /** The subjects of the received tokens, in order. */
  readonly subjects: string[] = [];
  /** The tokens that it accepted with 200. */
  readonly delivered: string[] = [];
  hear: (subject: string) => Promise<number> | number = () => 200;
  readonly #server = serveLoopback(async (request) => {
    const form = new URLSearchParams(await request.text());
    const token = form.get("logout_token")!;
    const { sub = "" } = decodeJwt(token);
    this.subjects.push(sub);
    const status = await this.hear(sub);
    if (status === 200) this.delivered.push(token);
    return new Response(null, { status });
  });
  readonly uri = `${this.#server.origin}/logout`;

  /** Waits until a number of logout tokens has arrived. */
  async heard(count: number): Promise<void> {
    await waitUntil(
      "the tokens have arrived",
      () => this.subjects.length >= count,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** The processes, issuer and application of a test, which end with it. */
export class Fleet {
  readonly replicas: Replica[] = [];
  readonly receiver = new Receiver();
  #issuer!: DemoIssuer;
  #feedRequests = 0;
  #dir = "";
  #args: readonly string[] = [];
  readonly #closing = new AsyncDisposableStack();

  /**
   * Creates a fleet without processes, over the store that `storeOf` returns.
   */
  static async open(
    storeOf: (dir: string) => string,
    more: readonly string[] = [],
  ): Promise<Fleet> {
    const fleet = new Fleet();
    const closing = fleet.#closing;
    const dir = fleet.#dir = closing.use(await tempFolder()).path;
    closing.use(fleet.receiver);
    const { origin } = closing.use(serveLoopback((request) => {
      if (request.url.endsWith(".jsonl")) fleet.#feedRequests++;
      return documentOf(issuer, request);
    }));
    const issuer = await createDemoIssuer({ origin, now: () => new Date() });
    fleet.#issuer = issuer;
    const clients = await clientsWithLogout(fleet.receiver.uri);
    await Deno.writeTextFile(`${dir}/c.json`, JSON.stringify({ clients }));
    const mode = 0o600;
    await Deno.writeTextFile(`${dir}/k.json`, await testKeysText(), { mode });
    fleet.#args = [
      ...["--issuer", issuer.did, "--require", "relationship=employee"],
      ...["--audience", FLEET_ORIGIN, "--store", storeOf(dir)],
      ...["--oidc-clients", "c.json", "--oidc-keys", "k.json"],
      ...["--allow-insecure", "--log", "text", ...more],
    ];
    return fleet;
  }

  /** Starts a process (default: over the fleet's store). */
  async start(store?: string): Promise<Replica> {
    const args = [...this.#args];
    if (store !== undefined) args[args.indexOf("--store") + 1] = store;
    const replica = new Replica(await startServer(this.#dir, args));
    this.replicas.push(replica);
    return replica;
  }

  /** Kills a process with SIGKILL. */
  async kill(replica: Replica): Promise<void> {
    this.replicas.splice(this.replicas.indexOf(replica), 1);
    await replica.server.kill();
  }

  /** Enrols a new person as an employee, and opens a browser. */
  async employ() {
    const person = new Person();
    const { relationship_id } = await this.#issuer.enrol(person.did);
    return { person, browser: new Browser(), relationship: relationship_id };
  }

  /** Revokes a relationship in the served feed. */
  async revoke(relationship: string): Promise<void> {
    await this.#issuer.revoke(relationship);
  }

  /** Waits until the processes have requested the feed `count` more times. */
  async looks(count: number): Promise<void> {
    const enough = this.#feedRequests + count;
    await waitUntil("looked again", () => this.#feedRequests >= enough);
  }

  /** Signs a person in for `app` at a process and returns the code. */
  async codeAt(replica: Replica, person: Person): Promise<string> {
    return await new Browser().signInForCode(replica, person);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { server } of this.replicas) await server.kill();
    await this.#closing.disposeAsync();
  }
}

/** Returns the form of a refresh by `app`. */
export function refreshForm(refresh_token: string): URLSearchParams {
  return new URLSearchParams({
    ...{ grant_type: "refresh_token", refresh_token },
    ...{ client_id: "app", client_secret: SECRET },
  });
}
