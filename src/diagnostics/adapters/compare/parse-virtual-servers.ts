import {
  SCHEDULER_FLAGS,
  PERSISTENT,
  virtualServerKey,
  type RealServer,
  type VirtualServerKey,
} from '../../../domain/ipvs/virtual-server.js';
import type { WalkedServer } from '../../domain/ipvs/walked-server.js';
import { NamedError } from '../../../domain/model/named-error.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { parseAddress } from '../../../domain/net/address.js';

/** A line that `ipvsadm -S -n` never writes, or about a server that cannot be followed. */
class IpvsadmSyntaxError extends NamedError {
  constructor(line: string) {
    super(
      `${JSON.stringify(line.slice(0, 200))} is no line of \`ipvsadm -S -n\` about a server with an address and a port`,
    );
  }
}

const PROTOCOLS: Readonly<Record<string, Protocol>> = { '-t': 'TCP', '-u': 'UDP', '--sctp-service': 'SCTP' };
const LINE = /^-([Aa]) (\S+) (\S+) ?(.*)$/;

/** Virtual servers by firewall mark have no address: no Service is behind them. */
const FIREWALL_MARK = '-f';

/** Reads what `ipvsadm -S -n` printed, except virtual servers by firewall mark. @throws IpvsadmSyntaxError */
export function parseVirtualServers(text: string): ReadonlyMap<VirtualServerKey, WalkedServer> {
  const found = new Map<VirtualServerKey, WalkedServer & { readonly realServers: RealServer[] }>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, action, option = '', where = '', rest = ''] = LINE.exec(line.trim()) ?? [];
    if (option === FIREWALL_MARK) continue;
    const protocol = PROTOCOLS[option];
    if (action === undefined || !protocol) throw new IpvsadmSyntaxError(line);
    const server = { ...addressAndPort(where, line), protocol };
    const value = (name: string) => new RegExp(`(?:^| )${name} (\\S+)`).exec(rest)?.[1];
    const key = virtualServerKey(server);
    if (action === 'a') {
      const real = { ...addressAndPort(value('-r') ?? '', line), weight: Number(value('-w') ?? 1) };
      const known = found.get(key);
      if (!known) throw new IpvsadmSyntaxError(line);
      known.realServers.push(real);
      continue;
    }
    const persistenceSeconds = Number(value('-p') ?? 0);
    const names = value('-b')?.split(',') ?? [];
    const flags = names.reduce(
      (all, name) => all | (SCHEDULER_FLAGS[name] ?? 0),
      persistenceSeconds > 0 ? PERSISTENT : 0,
    );
    const scheduler = value('-s') ?? 'wlc';
    found.set(key, { server: { ...server, scheduler, flags, persistenceSeconds }, realServers: [] });
  }
  return found;
}

function addressAndPort(text: string, line: string): { readonly address: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|(.*)):(\d+)$/.exec(text) ?? [];
  const address = parseAddress(bracketed ?? plain);
  if (!address) throw new IpvsadmSyntaxError(line);
  return { address: address.text, port: Number(port) };
}
