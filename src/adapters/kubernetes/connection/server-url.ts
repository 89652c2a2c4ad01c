/** The URL of the API server, and the proxy on the way to it. */

import { isLoopback, parseAddress } from '../../../domain/net/address.js';
import { cidrContains, parseCidr } from '../../../domain/net/cidr.js';
import { splitHostPort } from '../../../domain/net/listen-address.js';
import type { Cluster, User } from './client-node.js';
import { KubeconfigError, type Connection } from './connection.js';

/** Where a URL comes from, and what to do when it is wrong. */
interface Origin {
  readonly place: string;
  readonly advice: string;
}

/**
 * The URL of the API server: the master's, else the cluster's. Without a scheme it is HTTPS if anything about TLS is
 * configured, else HTTP, as in kube-proxy. Throws KubeconfigError.
 */
export function serverUrl({ master, kubeconfig }: Connection, cluster: Cluster, user: User | null): string {
  const server = master || cluster.server;
  const usesTls =
    cluster.caFile || cluster.caData || cluster.skipTLSVerify || user?.certFile || user?.certData;
  const url = server.includes('://') ? server : `${usesTls ? 'https' : 'http'}://${server}`;
  const origin = master
    ? { place: '--master', advice: 'use a URL like https://192.0.2.1:6443' }
    : { place: kubeconfig ?? 'in-cluster', advice: 'correct clusters[].cluster.server' };
  check(`the server "${server}"`, url, ['http', 'https'], origin);
  return url.replace(/\/+$/, '');
}

/** The proxy to use for the server: the cluster's, else the environment's. Throws KubeconfigError. */
export function proxyUrlOf({ kubeconfig }: Connection, cluster: Cluster, server: string): string | undefined {
  const proxy = cluster.proxyUrl || environmentProxy(new URL(server));
  if (!proxy) return undefined;
  const origin =
    cluster.proxyUrl && kubeconfig
      ? { place: kubeconfig, advice: 'correct clusters[].cluster.proxy-url' }
      : { place: 'environment', advice: 'correct HTTPS_PROXY or HTTP_PROXY' };
  check(`the proxy "${proxy}"`, proxy, ['http', 'https', 'socks5', 'socks5h'], origin);
  return proxy;
}

function check(what: string, url: string, schemes: readonly string[], { place, advice }: Origin): void {
  if (!URL.canParse(url)) throw new KubeconfigError(place, `${what} is not a URL`, advice);
  const scheme = new URL(url).protocol.slice(0, -1);
  if (!schemes.includes(scheme))
    throw new KubeconfigError(
      place,
      `${what} has the scheme "${scheme}"; it must be one of ${schemes.join(', ')}`,
      advice,
    );
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A destination as NO_PROXY matches it. */
interface Destination {
  /** Lower case, without brackets. */
  readonly host: string;
  readonly port: string;
}

/**
 * The proxy for a server according to the environment, as in Go's `http.ProxyFromEnvironment`: HTTPS_PROXY or HTTP_PROXY by
 * the server's scheme, or the same in lower case, unless NO_PROXY excludes it. `localhost` and loopback addresses are never
 * reached through a proxy. Undefined: no proxy.
 */
export function environmentProxy(server: URL, environment: Environment = process.env): string | undefined {
  const lookUp = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const secure = server.protocol === 'https:';
  const proxy = proxyUrl(lookUp(secure ? 'HTTPS_PROXY' : 'HTTP_PROXY'));
  const destination = {
    host: server.hostname.toLowerCase().replace(/^\[|\]$/g, ''),
    port: server.port || (secure ? '443' : '80'),
  };
  return proxy && isProxied(destination, lookUp('NO_PROXY')) ? proxy : undefined;
}

/** A proxy without a scheme uses HTTP. Text that is not a URL means no proxy, as in Go. */
function proxyUrl(text: string): string | undefined {
  if (text === '') return undefined;
  if (URL.canParse(text) && new URL(text).hostname !== '') return text;
  return URL.canParse(`http://${text}`) ? `http://${text}` : undefined;
}

function isProxied(destination: Destination, exclusions: string): boolean {
  const address = parseAddress(destination.host);
  if (destination.host === 'localhost' || (address && isLoopback(address))) return false;
  return !exclusions
    .split(',')
    .map((exclusion) => exclusion.trim().toLowerCase())
    .some((exclusion) => excludes(exclusion, destination));
}

/** `*`, a CIDR, an address, or a domain with its subdomains; a leading dot matches only subdomains. All but CIDRs may have a port. */
function excludes(exclusion: string, { host, port }: Destination): boolean {
  if (exclusion === '*') return true;
  const address = parseAddress(host);
  const cidr = parseCidr(exclusion);
  if (cidr) return address !== undefined && cidrContains(cidr, address.text);
  const { host: excluded, port: excludedPort } = splitHostPort(exclusion) ?? { host: exclusion, port: '' };
  if (excluded === '' || (excludedPort && excludedPort !== port)) return false;
  const excludedAddress = parseAddress(excluded);
  if (excludedAddress) return excludedAddress.text === address?.text;
  const domain = excluded.replace(/^\*\./, '.');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}
