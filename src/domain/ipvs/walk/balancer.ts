import { withStep, type Course } from '../../iptables/walk/course.js';
import { shareText } from '../../iptables/walk/effects.js';
import type { Interceptor } from '../../iptables/walk/tables-walk.js';
import { hostPort } from '../../net/address.js';
import type { Step } from '../../trace/trace.js';
import { serverLine } from '../render-servers.js';
import { isSticky, sharesOf, type Share } from './scheduling.js';
import type { FindServer, WalkedServer } from './walked-server.js';

/** IPVS, as packets on their way through the tables meet it. */
export class Balancer implements Interceptor {
  constructor(private readonly find: FindServer) {}

  intercept(course: Course, hook: 'input' | 'output'): readonly Course[] | undefined {
    const found = this.serverFor(course);
    if (!found) return undefined;
    const shares = sharesOf(found.server, found.realServers);
    if (shares.length > 0) return shares.map((share) => sent(course, hook, found, share));
    const why =
      found.realServers.length === 0 ? 'it has no real server' : 'all its real servers have weight 0';
    return [{ ...withStep(course, stepAt(hook, found, `refused: ${why}`)), verdict: 'refused' }];
  }

  /** One for the port, else one for all ports of the address. */
  private serverFor({ destination: address, port, packet: { protocol } }: Course): WalkedServer | undefined {
    const find = (port: number) => this.find({ address, port, protocol });
    return find(port) ?? find(0);
  }
}

function sent(
  course: Course,
  hook: string,
  found: WalkedServer,
  { realServer: { address, port: realPort }, share }: Share,
): Course {
  const { server } = found;
  const port = realPort === 0 ? course.port : realPort;
  const chosen = share < 1 ? `, ${shareText(share)} (${server.scheduler})` : '';
  const effect = `the destination becomes ${hostPort(address, port)}${chosen}`;
  return {
    ...withStep(course, stepAt(hook, found, effect)),
    destination: address,
    port,
    virtualServer: { address: server.address, port: course.port },
    isSticky: isSticky(server),
    probability: course.probability * share,
  };
}

function stepAt(hook: string, { server, servicePort }: WalkedServer, effect: string): Step {
  const rule = serverLine(server);
  return { hook, where: 'ipvs', rule, effect, ...(servicePort !== undefined && { servicePort }) };
}
