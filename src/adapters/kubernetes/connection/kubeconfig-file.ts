import { isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import type { ExecPlugin } from './exec-plugins.js';

/** A certificate or a key: in a file, which may be replaced at any time, or in the kubeconfig itself. */
export type Material = { readonly file: string } | { readonly data: Buffer };

/** How a cluster is reached. */
export interface Cluster {
  readonly name: string;
  readonly server: string;
  /** What verifies the server; without it what verifies any. */
  readonly authority?: Material | undefined;
  /** The server is not verified. */
  readonly insecure?: boolean;
  /** The name that the server's certificate has. */
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
}

/** How a user proves who it is. */
export interface User {
  readonly name: string;
  readonly certificate?: Material | undefined;
  readonly key?: Material | undefined;
  readonly token?: string | undefined;
  /** Read again whenever credentials are renewed; takes precedence over the token. */
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly exec?: ExecPlugin | undefined;
  /** The name of the provider of the kubeconfig's `auth-provider`. */
  readonly authProvider?: string | undefined;
  /** Whom it wants to act as. */
  readonly impersonates?: string | undefined;
}

/** A context of a kubeconfig. */
export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user?: string | undefined;
}

/** A kubeconfig. */
export interface KubeconfigFile {
  readonly currentContext: string | undefined;
  readonly contexts: readonly Context[];
  readonly clusters: readonly Cluster[];
  readonly users: readonly User[];
}

/**
 * Reads the text of a kubeconfig as client-go does: data come before files, paths are relative to the kubeconfig's directory.
 * @throws Error naming the field that is missing, or not what it should be
 */
export function parseKubeconfig(text: string, directory: string): KubeconfigFile {
  const document = parse(text) as unknown;
  if (document === null || document === undefined) throw new Error('it is empty');
  const file = new Fields(document as Raw, '', directory);
  return {
    currentContext: file.text('current-context'),
    contexts: file.entries('contexts', 'context', (name, context) => ({
      name,
      cluster: context.required('cluster'),
      user: context.text('user'),
    })),
    clusters: file.entries('clusters', 'cluster', (name, cluster) => ({
      name,
      server: cluster.required('server'),
      authority: cluster.material('certificate-authority'),
      insecure: cluster.raw['insecure-skip-tls-verify'] === true,
      tlsServerName: cluster.text('tls-server-name'),
      proxyUrl: cluster.text('proxy-url'),
    })),
    users: file.entries('users', 'user', userOf, true),
  };
}

function userOf(name: string, user: Fields): User {
  return {
    name,
    certificate: user.material('client-certificate'),
    key: user.material('client-key'),
    token: user.text('token'),
    tokenFile: user.path('tokenFile'),
    username: user.text('username'),
    password: user.text('password'),
    exec: user.part('exec', (exec) => {
      const command = exec.required('command');
      return {
        command: command.includes('/') ? exec.resolve(command) : command,
        args: (exec.raw.args ?? []) as readonly string[],
        environment: Object.fromEntries(
          ((exec.raw.env ?? []) as readonly { name: string; value: string }[]).map((one) => [
            one.name,
            one.value,
          ]),
        ),
        apiVersion: exec.text('apiVersion'),
      };
    }),
    authProvider: user.part('auth-provider', (provider) => provider.text('name') ?? ''),
    impersonates: user.text('as'),
  };
}

type Raw = Readonly<Record<string, unknown>>;

/** A part of the kubeconfig, with its place in it. */
class Fields {
  constructor(
    readonly raw: Raw,
    private readonly place: string,
    private readonly directory: string,
  ) {}

  text(field: string): string | undefined {
    const value = this.raw[field];
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value !== 'string') throw new Error(`${this.place}${field} is not text`);
    return value;
  }

  required(field: string): string {
    return this.text(field) ?? this.missing(field);
  }

  path(field: string): string | undefined {
    const path = this.text(field);
    return path && this.resolve(path);
  }

  resolve(path: string): string {
    return isAbsolute(path) ? path : join(this.directory, path);
  }

  material(field: string): Material | undefined {
    const data = this.text(`${field}-data`);
    if (data) return { data: Buffer.from(data, 'base64') };
    const file = this.path(field);
    return file ? { file } : undefined;
  }

  part<Value>(field: string, read: (part: Fields) => Value): Value | undefined {
    const raw = this.raw[field];
    return raw ? read(new Fields(raw as Raw, `${this.place}${field}.`, this.directory)) : undefined;
  }

  /** A list of what is named and has its fields in another field. */
  entries<Value>(
    list: string,
    field: string,
    read: (name: string, fields: Fields) => Value,
    mayBeEmpty = false,
  ): readonly Value[] {
    const raws = this.raw[list];
    if (!Array.isArray(raws)) return [];
    return raws.map((raw: Raw | null, index) => {
      const entry = new Fields(raw ?? {}, `${list}[${index}].`, this.directory);
      const name = entry.required('name');
      const empty = (): Fields => new Fields({}, `${entry.place}${field}.`, this.directory);
      return read(name, entry.part(field, (part) => part) ?? (mayBeEmpty ? empty() : entry.missing(field)));
    });
  }

  private missing(field: string): never {
    throw new Error(`${this.place}${field} is missing`);
  }
}
