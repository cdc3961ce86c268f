/** What a person says about the server that will serve the directory. @module */

/** Options of an exported configuration. */
export interface HostingOptions {
  /** The directory's place on the server. */
  readonly root: string;
  /** Files of the certificate and its key, where they are not found as usual. */
  readonly certificate?: {
    readonly file: string;
    readonly keyFile: string;
  };
}
