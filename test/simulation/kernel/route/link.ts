/** A network device. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `dummy`, `veth`, …; empty for hardware and loopback. */
  readonly kind: string;
  /** IFF_… */
  readonly flags: number;
  readonly mtu: number;
  /** Empty where there is none. */
  readonly hardwareAddress: Buffer;
}

/** An address of a device. */
export interface DeviceAddress {
  readonly device: Link;
  /** Canonical. */
  readonly address: string;
  readonly prefixLength: number;
  /** Of the other end of a point-to-point link; otherwise the address itself. */
  readonly peer: string;
  /** RT_SCOPE_… */
  readonly scope: number;
}
