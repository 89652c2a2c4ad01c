import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions, type RequestOptions } from 'node:https';
import { errorMessage } from '../../application/error-message.js';
import type { Clock } from '../../application/ports/clock.js';
import { certificatesIn } from './certificate-authority.js';
import type { Connection } from './connection.js';
import { ExecPlugins } from './exec-plugins.js';
import { KubeconfigError } from './kubeconfig-error.js';
import { loadKubeconfig, type LoadedKubeconfig } from './kubeconfig.js';

/** How long a proxy may take to lead to the API server. Milliseconds. */
const PROXY_TIMEOUT = 10_000;

/** What a request to the API server needs to get there and be let in. */
export interface Access {
  readonly server: URL;
  /** `host:port` of the proxy that leads there. */
  readonly proxy?: string;
  readonly options: Pick<RequestOptions, 'agent' | 'auth' | 'headers'>;
}

/**
 * The way to the API server and the means to be let in, kept fresh: what may be rotated on disk (kubeconfig, tokens,
 * certificates) is read again for a request when it was last read longer than `lifetime` ago, or at once after
 * `readAgain` or `renew`. Connections are kept in an agent, which is replaced when the TLS material changes; requests that still run
 * on the old one end there.
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
    /** Milliseconds for which what was read is used again. */
    private readonly lifetime: number,
    /** Milliseconds that an exec plugin may take. */
    pluginLimit: number,
  ) {
    this.plugins = new ExecPlugins(clock, pluginLimit);
  }

  /** Throws KubeconfigError. */
  current(): Promise<Access> {
    if (!this.access || this.clock.now() - this.readAt >= this.lifetime) {
      this.readAt = this.clock.now();
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

  /** The server did not accept them: everything is read again, exec plugins are asked again. */
  renew(): void {
    this.loaded = undefined;
    this.access = undefined;
  }

  /** Closes idle connections and ends exec plugins that run. Usable again afterwards. */
  close(): void {
    this.plugins.close();
    this.replaceAgent(undefined, '');
    this.access = undefined;
  }

  private async read(): Promise<Access> {
    const { config, tokenFile } = await this.load();
    const cluster = config.getCurrentCluster();
    const user = config.getCurrentUser();
    const file = this.connection.kubeconfig ?? 'in-cluster';
    if (!cluster || !URL.canParse(cluster.server)) {
      throw new KubeconfigError(
        file,
        `the server "${cluster?.server ?? ''}" is no URL`,
        'correct clusters[].cluster.server',
      );
    }
    const options: RequestOptions = { timeout: PROXY_TIMEOUT };
    try {
      if (tokenFile && user) Object.assign(user, { token: (await readFile(tokenFile, 'utf8')).trim() });
      await config.applyToHTTPSOptions(options);
    } catch (error) {
      throw new KubeconfigError(
        file,
        `the credentials cannot be had (${errorMessage(error).trim()})`,
        'check the certificate and token files and the exec plugin that it names',
        { cause: error },
      );
    }
    const authorities = options.ca ? certificatesIn(String(options.ca)) : undefined;
    if (authorities?.length === 0) {
      throw new KubeconfigError(
        cluster.caFile ?? file,
        'the certificate authority of the API server cannot be read (unable to parse bytes as PEM block)',
        `clusters[].cluster.certificate-authority${cluster.caFile ? '' : '-data'} must be certificates in PEM`,
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

  /** The configuration, read again when its file says something else than before. */
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
