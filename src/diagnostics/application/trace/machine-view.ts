import type { Route, Routes } from '../../../application/ports/node/routes.js';
import type { PacketForwarding } from '../../../application/ports/node/packet-forwarding.js';
import { passageObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { NodePassage, NodeView, OwnAddress } from './node-view.js';

/** Made up: packets of a source that the machine has no route to. */
const UNKNOWN_DEVICE = '(unknown)';

/** The node is this machine, whose routes are asked for once each. */
export class MachineView implements NodeView {
  readonly assumption = undefined;
  private readonly asked = new Map<string, Promise<Route | undefined>>();

  constructor(
    readonly localAddresses: ReadonlySet<string>,
    private readonly routes: Pick<Routes, 'to'>,
    /** Missing: packets pass through a process instead of being forwarded. */
    private readonly forwarding?: PacketForwarding,
  ) {}

  /** Packets come in where packets to their source go out. */
  async arrival(source: string): Promise<string> {
    return (await this.routeTo(source))?.device ?? UNKNOWN_DEVICE;
  }

  async ownAddressTowards(destination: string): Promise<OwnAddress | undefined> {
    const route = await this.routeTo(destination);
    return route && { text: route.source, isAssumed: false };
  }

  async obstacle({ to, ...passage }: NodePassage): Promise<string | undefined> {
    return this.forwarding && passageObstacle(this.forwarding, { ...passage, route: await this.routeTo(to) });
  }

  private routeTo(address: string): Promise<Route | undefined> {
    const known = this.asked.get(address) ?? this.routes.to(address);
    this.asked.set(address, known);
    return known;
  }
}
