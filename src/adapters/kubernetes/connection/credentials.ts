import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, type RequestOptions } from 'node:https';
import { errorMessage } from '../../../application/error-message.js';
import type { Clock } from '../../../application/ports/clock.js';
import { forgetAgents, type User } from './client-node.js';
import { certificatesIn } from './certificate-authority.js';
import { KubeconfigError, type Connection } from './connection.js';
import { ExecPlugins } from './exec-plugins.js';
import { loadKubeconfig, type LoadedKubeconfig } from './kubeconfig.js';

/** How long a proxy may take to reach the API server. Milliseconds. */
const PROXY_TIMEOUT = 10_000;

/** What a request needs to reach the API server and authenticate. */
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

  /** Throws KubeconfigError. */
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

  /** The server rejected the credentials: reads everything and runs exec plugins again for the next request. */
  renew(): void {
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
    const { config, tokenFile } = await this.load();
    const cluster = config.getCurrentCluster();
    const file = this.connection.kubeconfig ?? 'in-cluster';
    if (!cluster || !URL.canParse(cluster.server)) {
      throw new KubeconfigError(
        file,
        `the server "${cluster?.server ?? ''}" is not a URL`,
        'correct clusters[].cluster.server',
      );
    }
    const options: RequestOptions = { timeout: PROXY_TIMEOUT };
    try {
      if (tokenFile)
        Object.assign(config.getCurrentUser() ?? {}, { token: (await readFile(tokenFile, 'utf8')).trim() });
      forgetAgents(config);
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new KubeconfigError(
        file,
        `cannot obtain the credentials (${reasonOf(error, config.getCurrentUser())})`,
        'check the certificate files, the token file and the exec plugin it names',
        { cause: error },
      );
    }
    const authorities = options.ca ? certificatesIn(String(options.ca)) : undefined;
    if (authorities?.length === 0) {
      throw new KubeconfigError(
        cluster.caFile ?? file,
        'cannot read the certificate authority of the API server (unable to parse bytes as PEM block)',
        `clusters[].cluster.certificate-authority${cluster.caFile ? '' : '-data'} must hold certificates in PEM format`,
      );
    }
    const server = new URL(cluster.server);
    const tls = {
      ca: authorities?.join('\n'),
      cert: options.cert,
      key: options.key,
      servername: options.servername,
      rejectUnauthorized: options.rejectUnauthorized,
    };
    const identity = fingerprint([server.protocol, cluster.proxyUrl, ...Object.values(tls)]);
    if (!this.agent || identity !== this.agentIdentity) {
      const agent = cluster.proxyUrl ? (options.agent as HttpAgent) : newAgent(server, tls);
      this.replaceAgent(agent, identity);
    }
    return {
      server,
      ...(cluster.proxyUrl && { proxy: new URL(cluster.proxyUrl).host }),
      options: { agent: this.agent, headers: { ...options.headers }, auth: options.auth ?? null },
    };
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

/** What a plugin printed may be a secret, and the parser's message repeats it. */
function reasonOf(error: unknown, user: User | null): string {
  const { command } = (user?.exec ?? {}) as { readonly command?: string };
  const isOfContent = error instanceof SyntaxError || error instanceof TypeError;
  if (command !== undefined && isOfContent) return `the exec plugin ${command} printed no ExecCredential`;
  return errorMessage(error).trim();
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
