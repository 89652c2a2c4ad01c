import { cutText } from '../../../application/cut-text.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** How to reach the API server. With neither a kubeconfig nor a master: in-cluster, with the pod's service account. */
export interface Connection {
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string;
  /** The context of the kubeconfig to use, instead of its current one. */
  readonly context?: string;
  /** URL of the API server; overrides the kubeconfig's. */
  readonly master?: string;
  /** What replaces parts of the kubeconfig. */
  readonly overrides?: ConnectionOverrides;
  /** Where the service account is mounted. Only tests set it. */
  readonly serviceAccountRoot?: string;
}

/** Parts of a kubeconfig that a command line replaces, as kubectl's flags of the same names do. Paths are relative to the working directory. */
export interface ConnectionOverrides {
  /** The name of a cluster in the kubeconfig. */
  readonly cluster?: string | undefined;
  /** The name of a user in the kubeconfig. */
  readonly user?: string | undefined;
  readonly token?: string | undefined;
  /** The user to impersonate. */
  readonly as?: string | undefined;
  /** The groups to impersonate. */
  readonly asGroup?: readonly string[] | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly clientCertificate?: string | undefined;
  readonly clientKey?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
}

/** The connection to the API server is not configured, or its configuration is unusable. Retrying does not help. */
export class KubeconfigError extends NamedError {
  constructor(
    /** The file at fault, or "in-cluster". */
    readonly file: string,
    problem: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: ${problem}; ${advice}`, options);
  }
}

/**
 * The credentials are not available now: a token file, certificate or certificate authority is missing or unfinished, or the exec plugin
 * fails. Another attempt may succeed.
 */
export class CredentialsError extends NamedError {
  constructor(
    /** The kubeconfig that names them, or "in-cluster". */
    readonly file: string,
    problem: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: cannot obtain the credentials (${cutText(problem)}); ${advice}`, options);
  }
}
