/** The hosts of applications behind a proxy that asks us (docs/gate.md). @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Client, Clients } from "../openid/client.ts";

/** A host whose proxy asks who is there. */
export interface GateHost {
  /** Its name, with the port unless that is the scheme's own. */
  readonly host: string;
  /** Its origin. */
  readonly origin: string;
  /** What it is called among the applications of a session. */
  readonly clientId: string;
  /** Whether browsers send the login's own cookie to it: ports do not matter. */
  readonly isOwn: boolean;
}

/** The hosts that the operator named. */
export interface GateHosts {
  /** The host of that name, spelled in any way; undefined for all others. */
  find(host: string): GateHost | undefined;
  /** The applications, and each host as one more. */
  addTo(clients: () => Clients): () => Clients;
}

const NAME = /^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/;

/**
 * Reads the names of hosts, `HOST[:PORT]`. One without a port means the port of
 * the scheme alone.
 *
 * @param issuer The login's own origin, whose scheme is that of all hosts.
 * @throws {SigError} `invalid_request` for what is no host.
 */
export function createGateHosts(
  names: readonly string[],
  issuer: string,
): GateHosts {
  const own = new URL(issuer);
  const read = (name: string): URL | undefined =>
    NAME.test(name.toLowerCase())
      ? URL.parse(`${own.protocol}//${name}`) ?? undefined
      : undefined;
  const hosts = new Map(names.map((name) => {
    const url = read(name);
    if (url === undefined) throw refuse(name);
    const { host, hostname, origin } = url;
    const isOwn = hostname === own.hostname;
    // No client_id of a file has a colon.
    return [host, { host, origin, isOwn, clientId: `gate:${host}` }];
  }));
  // A proxy on the login's very own host needs no further name.
  hosts.set(own.host, {
    ...{ host: own.host, origin: own.origin, isOwn: true },
    clientId: `gate:${own.host}`,
  });
  const gates = Array.from(hosts.values(), clientOf);
  return {
    // As it is spelled by most: then it need not be read.
    find: (host) => hosts.get(host) ?? hosts.get(read(host)?.host ?? ""),
    addTo(clients) {
      let known: Clients | undefined;
      let all: Clients = new Map();
      return () => {
        if (known !== clients()) {
          known = clients();
          all = new Map([...known, ...gates]);
        }
        return all;
      };
    },
  };
}

/** To people it is an application; no protocol of applications is for it. */
function clientOf({ clientId, host }: GateHost): readonly [string, Client] {
  return [clientId, {
    client_id: clientId,
    client_name: host,
    authMethods: [],
    redirectUris: [],
    postLogoutRedirectUris: [],
    signingAlgorithm: "RS256",
    refresh: false,
    require: [],
  }];
}

function refuse(name: string): SigError {
  return new SigError(
    "invalid_request",
    `Cannot ask for a login at ${
      quote(name)
    }: it must be a host name, with a port at most`,
    {
      context: {
        flag: "--gate-host",
        hint: "For example: --gate-host wiki.acme.example.",
      },
    },
  );
}
