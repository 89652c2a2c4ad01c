import type { Life } from './life.js';
import type { Random } from './random.js';
import type { Planned, Scheduler } from './scheduler.js';
import { SimulatedSocket } from './simulated-socket.js';

/** Somebody who takes connections. */
export interface Listener {
  readonly owner: Life;
  accept(socket: SimulatedSocket): void;
}

/** What may go wrong on the way. Each holds until it is changed. */
export interface Weather {
  /** Milliseconds that a piece of data is on its way, at least and at most. */
  latency: readonly [number, number];
  /** Data is cut into pieces of this many bytes at most. */
  pieces: number;
  /** New connections are refused, or get no answer. */
  newConnections: 'open' | 'refused' | 'silent';
}

export const FINE: Weather = { latency: [0.05, 1], pieces: 1 << 20, newConnections: 'open' };

/** TCP between the machine of the proxy and others, and inside it: bytes arrive late, in pieces, or not at all. */
export class Network {
  weather: Weather = { ...FINE };
  /** By family and port. */
  private readonly listeners = new Map<string, Listener>();
  private readonly sockets = new Set<SimulatedSocket>();
  private nextPort = 40_000;
  /** Addresses at which nobody answers. */
  readonly silentHosts = new Set<string>();

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: Random,
  ) {}

  /** Returns the port, or undefined if it is taken. 0: any port. */
  listen(host: string, port: number, listener: Listener): number | undefined {
    const taken = port === 0 ? this.nextPort++ : port;
    const place = placeOf(host, taken);
    if (this.listeners.has(place)) return undefined;
    this.listeners.set(place, listener);
    listener.owner.onEnd(() => this.unlisten(host, taken, listener));
    return taken;
  }

  unlisten(host: string, port: number, listener: Listener): void {
    const place = placeOf(host, port);
    if (this.listeners.get(place) === listener) this.listeners.delete(place);
  }

  /** Begins a connection of whoever acts now. */
  connect(host: string, port: number): SimulatedSocket {
    const { scheduler, weather } = this;
    const { owner } = scheduler;
    const from = this.nextPort++;
    const remote = /^[\d.:a-f]+$/.test(host) ? host : '127.0.0.1';
    const near = new SimulatedSocket(owner, { local: ['127.0.0.1', from], remote: [remote, port] }, this);
    near.connecting = true;
    if (weather.newConnections === 'silent' || this.silentHosts.has(remote)) {
      owner.onEnd(() => near.vanish());
      return near;
    }
    near.happensAt(this.now + this.latency(), () => {
      const listener =
        weather.newConnections === 'open' ? this.listeners.get(placeOf(remote, port)) : undefined;
      if (!listener?.owner.isAlive) {
        near.destroy(
          Object.assign(new Error(`connect ECONNREFUSED ${host}:${port}`), {
            code: 'ECONNREFUSED',
            syscall: 'connect',
            address: host,
            port,
          }),
        );
        return;
      }
      const far = new SimulatedSocket(
        listener.owner,
        { local: [remote, port], remote: ['127.0.0.1', from] },
        this,
      );
      near.joins(far);
      for (const socket of [near, far]) this.keep(socket);
      near.connecting = false;
      scheduler.after(0, () => listener.accept(far), listener.owner);
      near.emit('connect');
      near.emit('ready');
    });
    return near;
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** Does something with a side of a connection at a time, or now if that has passed. */
  at(time: number, socket: SimulatedSocket, run: () => void): Planned {
    return this.scheduler.after(time - this.scheduler.now, run, socket.owner);
  }

  /** Carries a piece of data, or its end, to the other side; what is sent on one connection arrives in order. */
  carry(socket: SimulatedSocket, after: number, arrive: () => void): number {
    const at = Math.max(this.now + this.latency(), after);
    socket.happensAt(at, arrive);
    return at;
  }

  /** The connections of one side, for whoever breaks them. */
  connectionsOf(owner: Life): readonly SimulatedSocket[] {
    return [...this.sockets].filter((socket) => socket.owner === owner);
  }

  /** Where somebody listens, by family and port. */
  portsOf(owner: Life): readonly string[] {
    return [...this.listeners].flatMap(([place, listener]) => (listener.owner === owner ? place : []));
  }

  forget(socket: SimulatedSocket): void {
    this.sockets.delete(socket);
  }

  /** Whether somebody listens on a port, of either family. */
  isListening(owner: Life, port: number): boolean {
    return ['', '::'].some((host) => this.listeners.get(placeOf(host, port))?.owner === owner);
  }

  private keep(socket: SimulatedSocket): void {
    this.sockets.add(socket);
    socket.owner.onEnd(() => socket.vanish());
  }

  private latency(): number {
    const [least, most] = this.weather.latency;
    return least + this.random.next() * (most - least);
  }
}

/** IPv4 unless the host is an IPv6 address. */
function placeOf(host: string, port: number): string {
  return `${host.includes(':') ? 6 : 4} ${port}`;
}
