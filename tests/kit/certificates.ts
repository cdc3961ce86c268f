/** Temporary certificates for tests, made with openssl. @module */

/** Whether openssl is installed. */
export function hasOpenssl(): boolean {
  try {
    return new Deno.Command("openssl", { args: ["version"] }).outputSync()
      .success;
  } catch {
    return false;
  }
}

/** A server's certificate and key, with the authority that signed it. */
export interface TestCertificate {
  /** The authority as PEM, for clients to trust. */
  readonly authority: string;
  /** The server's certificate as PEM. */
  readonly cert: string;
  /** The server's private key as PEM. */
  readonly key: string;
}

/** Creates an authority and a certificate for one name, valid for some days. */
export async function makeCertificate(
  subjectAltName: string,
  { days = 2 }: { readonly days?: number } = {},
): Promise<TestCertificate> {
  const folder = await Deno.makeTempDir();
  const run = async (command: string) => {
    const { success, stderr } = await new Deno.Command("openssl", {
      args: command.split(" "),
      cwd: folder,
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const ec = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  try {
    await run(
      `req -x509 ${ec} -keyout ca.key -out ca.pem -subj /CN=test-authority -days ${days}`,
    );
    await run(`req ${ec} -keyout s.key -out s.csr -subj /CN=test-only`);
    await Deno.writeTextFile(
      `${folder}/ext`,
      `subjectAltName=${subjectAltName}\nbasicConstraints=CA:FALSE\n`,
    );
    await run(
      "x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial " +
        `-out s.pem -days ${days} -extfile ext`,
    );
    const read = (name: string) => Deno.readTextFile(`${folder}/${name}`);
    return {
      authority: await read("ca.pem"),
      cert: await read("s.pem"),
      key: await read("s.key"),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
