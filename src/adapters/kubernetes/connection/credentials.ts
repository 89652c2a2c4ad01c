import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { errorMessage } from '../../../application/error-message.js';
import type { Clock } from '../../../application/ports/clock.js';
import { agentFor, type Tls } from './agents.js';
import { certificatesIn } from './certificate-authority.js';
import { KubeconfigError, type Connection } from './connection.js';
import { ExecPlugins } from './exec-plugins.js';
import { loadKubeconfig, type Kubeconfig } from './kubeconfig.js';
import type { Cluster, Material, User } from './kubeconfig-file.js';

/** What a request needs to reach the API server and authenticate. */
export interface Access {
  readonly server: URL;
  /** `host:port` of the proxy on the way. */
  readonly proxy?: string;
  readonly options: Pick<RequestOptions, 'agent' | 'auth' | 'headers'>;
}

interface Proofs extends Pick<RequestOptions, 'auth'> {
  readonly tls: Tls;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The route and credentials to the API server, kept fresh. What may be rotated on disk (kubeconfig, tokens, certificates)
 * is read again for the first request after `lifetime`, or after `readAgain` or `renew`. An agent keeps connections. It is
 * replaced when the TLS material changes; running requests finish on the old one.
 */
export class Credentials {
  private loaded: Kubeconfig | undefined;
  private loadedFrom: string | undefined;
  private access: Promise<Access> | undefined;
  private readAt = 0;
  private agent: Agent | undefined;
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
    const { cluster, user } = await this.load();
    const file = this.connection.kubeconfig ?? 'in-cluster';
    const { tls, headers, auth } = await this.proofs(cluster, user).catch((error: unknown) => {
      throw new KubeconfigError(
        file,
        `cannot obtain the credentials (${errorMessage(error).trim()})`,
        'check the certificate files, the token file and the exec plugin it names',
        { cause: error },
      );
    });
    const authorities = tls.ca ? certificatesIn(String(tls.ca)) : undefined;
    if (authorities?.length === 0) {
      const inFile = cluster.authority && 'file' in cluster.authority;
      throw new KubeconfigError(
        inFile ? cluster.authority.file : file,
        'cannot read the certificate authority of the API server (unable to parse bytes as PEM block)',
        `clusters[].cluster.certificate-authority${inFile ? '' : '-data'} must hold certificates in PEM format`,
      );
    }
    const server = new URL(cluster.server);
    const verified = { ...tls, ca: authorities?.join('\n') };
    const identity = fingerprint([server.protocol, cluster.proxyUrl, ...Object.values(verified)]);
    if (!this.agent || identity !== this.agentIdentity)
      this.replaceAgent(await agentFor(server, cluster.proxyUrl, verified), identity);
    return {
      server,
      ...(cluster.proxyUrl && { proxy: new URL(cluster.proxyUrl).host }),
      options: { agent: this.agent, headers, auth },
    };
  }

  /** What verifies both sides, as it is now: on disk, or from an exec plugin. */
  private async proofs(cluster: Cluster, user: User): Promise<Proofs> {
    const issued = user.exec ? await this.plugins.credential(user.exec) : {};
    const tls = {
      ca: await contentOf(cluster.authority),
      cert: issued.clientCertificateData ?? (await contentOf(user.certificate)),
      key: issued.clientKeyData ?? (await contentOf(user.key)),
      servername: cluster.tlsServerName,
      rejectUnauthorized: cluster.insecure ? false : undefined,
    };
    const token =
      (user.tokenFile && (await readFile(user.tokenFile, 'utf8')).trim()) || user.token || issued.token;
    return {
      tls,
      headers: {
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(user.impersonates && { 'Impersonate-User': user.impersonates }),
      },
      auth: user.username ? `${user.username}:${user.password ?? ''}` : null,
    };
  }

  /** Loads the configuration again when its file has changed. */
  private async load(): Promise<Kubeconfig> {
    const text =
      this.connection.kubeconfig &&
      (await readFile(this.connection.kubeconfig, 'utf8').catch(() => undefined));
    if (!this.loaded || text !== this.loadedFrom) {
      this.loaded = await loadKubeconfig(this.connection);
      this.loadedFrom = text;
    }
    return this.loaded;
  }

  private replaceAgent(agent: Agent | undefined, identity: string): void {
    const old = this.agent;
    this.agent = agent;
    this.agentIdentity = identity;
    if (!old) return;
    old.maxFreeSockets = 0;
    for (const sockets of Object.values(old.freeSockets))
      for (const socket of sockets ?? []) socket.destroy();
  }
}

async function contentOf(material: Material | undefined): Promise<Buffer | undefined> {
  if (!material) return undefined;
  return 'data' in material ? material.data : readFile(material.file);
}

function fingerprint(parts: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(Buffer.isBuffer(part) ? part : String(part)).update('\0');
  return hash.digest('hex');
}
