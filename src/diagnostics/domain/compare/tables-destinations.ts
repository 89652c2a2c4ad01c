import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import type { ListedRules } from '../iptables/rule-source.js';
import { isProtocol, type Protocol } from '../../../domain/model/service-port-name.js';
import { rangeOf, singleAddress, type AddressRange } from './address-ranges.js';
import { parseCidr } from '../../../domain/net/cidr.js';
import type { NamedDestination } from './side.js';

const QUOTED = /"[^"]*"/g;
const DESTINATION = /(?:^| )(?:-d|--ctorigdst) (\S+)/;
const PROTOCOL = /(?:^| )-p (\S+)/;
const PORTS = /(?:^| )(?:--dports?|--ports|--ctorigdstport) (\S+)/;

/** Every destination that a rule of the tables names. */
export function* tablesDestinations(rules: ListedRules): Generator<NamedDestination> {
  for (const chain of rules.all())
    for (const { text } of chain.rules) yield* destinationsIn(text.replaceAll(QUOTED, ''));
}

function* destinationsIn(text: string): Generator<NamedDestination> {
  const network = DESTINATION.exec(text)?.[1];
  const protocol = protocolOf(PROTOCOL.exec(text)?.[1] ?? '');
  const ports = PORTS.exec(text)?.[1];
  if (network === undefined && ports === undefined) return;
  const where = {
    ...(network !== undefined && { addresses: addressesIn(network) }),
    ...(protocol && { protocol }),
  };
  if (ports === undefined) yield where;
  for (const range of ports?.split(',') ?? []) {
    const [first = '', last = first] = range.split(':');
    yield { ...where, ports: [Number(first), Number(last)] };
  }
}

function addressesIn(text: string): AddressRange {
  const cidr = parseCidr(text);
  return cidr ? rangeOf(cidr) : singleAddress(text);
}

function protocolOf(text: string): Protocol | undefined {
  const name = text.toUpperCase();
  return isProtocol(name) ? name : undefined;
}

/** Every destination that a member of a set names, as if each were looked up by destinations. */
export function* setDestinations(sets: Iterable<IpSet>): Generator<NamedDestination> {
  for (const { type, members } of sets)
    for (const member of members) {
      const [first = '', second = ''] = member.split(',');
      if (type === 'bitmap:port') yield { ports: [Number(first), Number(first)] };
      else if (second === '') yield { addresses: addressesIn(first) };
      else {
        const [name = '', port = ''] = second.split(':');
        const protocol = protocolOf(name);
        yield {
          addresses: addressesIn(first),
          ...(protocol && { protocol }),
          ports: [Number(port), Number(port)],
        };
      }
    }
}
