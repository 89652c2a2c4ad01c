import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, type OutgoingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, type RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import { errorMessage } from '../../../application/error-message.js';
import type { Clock } from '../../../application/ports/clock.js';
import { forgetAgents, type KubeConfig, type User, ExecPlugins } from './client-node.js';
import { certificatesIn, loadKubeconfig, type LoadedKubeconfig } from './kubeconfig.js';
import { CredentialsError, type Connection } from './connection.js';
/** How long a proxy may take to reach the API server. Milliseconds. */
const PROXY_TIMEOUT = 10_000;

/** Characters that no HTTP header may contain. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Address and credentials of a request to the API server. */
export interface Access {
  readonly server: URL;
  /** `host:port` of the proxy on the way. */
  readonly proxy?: string;
  readonly options: Pick<RequestOptions, 'agent' | 'auth' | 'headers'>;
}

/**
 * The route and credentials to the API server, kept fresh. What may be rotated on disk (kubeconfig, tokens, certificates)
 * is read again for the first request after `lifetime`, or after `readAgain` or `renew`. An agent keeps connections. It is
 * replaced when the TLS material changes; running requests finish on the old one.
 */
export class Credentials {
  private loaded: LoadedKubeconfig | undefined;
  private loadedFrom: string | undefined;
  private access: Promise<Access> | undefined;
  private readAt = 0;
  /** Those that were read since the last renewal. */
  private valid = new WeakSet<Access>();
  private agent: HttpAgent | undefined;
  private agentIdentity = '';
  private readonly plugins: ExecPlugins;

  constructor(
    private readonly connection: Connection,
    private readonly clock: Clock,
    /** Milliseconds until files are read again. */
    private readonly lifetime: number,
    /** Milliseconds that an exec plugin may take. */
    pluginLimit: number,
  ) {
    this.plugins = new ExecPlugins(clock, pluginLimit);
  }

  /** The URL of the server. Reads the configuration only. Throws KubeconfigError. */
  async server(): Promise<URL> {
    const { config } = await this.load();
    return new URL(config.getCurrentCluster()!.server);
  }

  /** Throws KubeconfigError and CredentialsError. */
  current(): Promise<Access> {
    if (!this.access || this.clock.steady() - this.readAt >= this.lifetime) {
      this.readAt = this.clock.steady();
      const access = this.read();
      this.access = access;
      access.catch(() => {
        if (this.access === access) this.access = undefined;
      });
    }
    return this.access;
  }

  /** The next request reads the files again. */
  readAgain(): void {
    this.access = undefined;
  }

  /**
   * The server rejected these credentials: reads everything and runs exec plugins again for the next request. Does nothing if they were
   * replaced already: several requests may be rejected at the same time.
   */
  renew(rejected: Access): void {
    if (!this.valid.has(rejected)) return;
    this.valid = new WeakSet();
    this.loaded = undefined;
    this.access = undefined;
  }

  /** Closes idle connections and kills running exec plugins. Usable again afterwards. */
  close(): void {
    this.plugins.close();
    this.replaceAgent(undefined, '');
    this.access = undefined;
  }

  private async read(): Promise<Access> {
    const { valid } = this;
    const { config, tokenFile } = await this.load();
    const { kubeconfig, overrides: { asGroup } = {} } = this.connection;
    const cluster = config.getCurrentCluster()!;
    const user = config.getCurrentUser();
    const server = new URL(cluster.server);
    const options: RequestOptions = { timeout: PROXY_TIMEOUT };
    let tls: AgentOptions;
    try {
      if (tokenFile) Object.assign(user ?? {}, { token: await tokenIn(tokenFile) });
      forgetAgents(config);
      await authenticate(config, user, options);
      requireSendable(options.headers as OutgoingHttpHeaders | undefined);
      tls = tlsOf(options, cluster.caFile, user?.certFile);
    } catch (error) {
      // The library keeps even a credential that it could not use.
      this.loaded = undefined;
      throw new CredentialsError(
        kubeconfig ?? 'in-cluster',
        errorMessage(error),
        kubeconfig
          ? 'check the certificate files, the token file and the exec plugin it names'
          : 'check that the service account is mounted',
        { cause: error },
      );
    }
    const identity = fingerprint([server.protocol, cluster.proxyUrl, ...Object.values(tls)]);
    if (!this.agent || identity !== this.agentIdentity) {
      const agent = cluster.proxyUrl ? (options.agent as HttpAgent) : newAgent(server, tls);
      this.replaceAgent(agent, identity);
    }
    const access: Access = {
      server,
      ...(cluster.proxyUrl && { proxy: new URL(cluster.proxyUrl).host }),
      options: {
        agent: this.agent,
        // The library impersonates users alone.
        headers: { ...options.headers, ...(asGroup && { 'Impersonate-Group': [...asGroup] }) },
        auth: options.auth ?? null,
      },
    };
    valid.add(access);
    return access;
  }

  /** Loads the configuration again when its file has changed. */
  private async load(): Promise<LoadedKubeconfig> {
    const text =
      this.connection.kubeconfig &&
      (await readFile(this.connection.kubeconfig, 'utf8').catch(() => undefined));
    if (!this.loaded || text !== this.loadedFrom) {
      this.loaded = await loadKubeconfig(this.connection, this.plugins);
      this.loadedFrom = text;
    }
    return this.loaded;
  }

  private replaceAgent(agent: HttpAgent | undefined, identity: string): void {
    const old = this.agent;
    this.agent = agent;
    this.agentIdentity = identity;
    if (!old) return;
    old.maxFreeSockets = 0;
    for (const sockets of Object.values(old.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }
}

async function tokenIn(file: string): Promise<string> {
  const token = (await readFile(file, 'utf8')).trim();
  if (token === '') throw new Error(`the token file ${file} is empty`);
  return token;
}

/** The output of an exec plugin may be a secret, and the parser's message repeats it. */
async function authenticate(config: KubeConfig, user: User | null, options: RequestOptions): Promise<void> {
  const { command } = (user?.exec ?? {}) as { readonly command?: string };
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    const { syscall = 'spawn' } = error as NodeJS.ErrnoException;
    if (command === undefined || !syscall.startsWith('spawn')) throw error;
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw new Error(`the exec plugin ${command} printed no ExecCredential`, { cause: error });
    const reason = errorMessage(error).trim();
    if (reason.includes(command)) throw error;
    throw new Error(`the exec plugin ${command} failed${reason && `: ${reason}`}`, { cause: error });
  }
  if (command !== undefined && !options.cert && !(options.headers as OutgoingHttpHeaders).Authorization)
    throw new Error(`the exec plugin ${command} printed neither a token nor a certificate`);
}

/** Node rejects such a header only when a request is made, too late to call an exec plugin again. */
function requireSendable({ Authorization }: OutgoingHttpHeaders = {}): void {
  if (UNSENDABLE.test(String(Authorization)))
    throw new Error('the token has a character that is not allowed in an HTTP header');
}

/** Throws when they are not PEM or do not belong together, as they may while files are being written. */
function tlsOf(
  { ca, cert, key, servername, rejectUnauthorized }: RequestOptions,
  caFile = '',
  certFile = 'in the kubeconfig',
): AgentOptions {
  const authorities = ca ? certificatesIn(String(ca)) : undefined;
  if (authorities?.length === 0)
    throw new Error(`the certificate authority ${caFile} contains no certificate in PEM format`);
  const tls = { ca: authorities?.join('\n'), cert, key, servername, rejectUnauthorized };
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new Error(`the client certificate ${certFile} is not valid: ${errorMessage(error)}`, {
      cause: error,
    });
  }
  return tls;
}

function newAgent(server: URL, tls: AgentOptions): HttpAgent {
  const defined = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
  return server.protocol === 'http:'
    ? new HttpAgent({ keepAlive: true })
    : new HttpsAgent({ keepAlive: true, ...defined });
}

function fingerprint(parts: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(Buffer.isBuffer(part) ? part : String(part)).update('\0');
  return hash.digest('hex');
}
