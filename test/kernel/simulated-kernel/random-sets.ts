import type { Random } from '../../simulation/world/random.js';

const TYPES = ['hash:ip', 'hash:ip,port', 'hash:ip,port,ip', 'hash:ip,port,net', 'bitmap:port'];
const NAMES = ['A', 'B', 'C'];

/** Lines of `ipset restore`, and some that the program refuses. */
export class RandomSets {
  constructor(private readonly random: Random) {}

  restore(): string {
    return `${Array.from({ length: this.random.between(1, 6) }, () => this.line()).join('\n')}\n`;
  }

  line(): string {
    const { random } = this;
    const name = random.pick(NAMES);
    switch (random.between(1, 12)) {
      case 1:
      case 2:
        return this.create(name);
      case 3:
        return `destroy ${name}`;
      case 4:
        return `flush ${name}`;
      case 6:
      case 7:
        return `del ${name} ${this.member()}`;
      default:
        return `add ${name} ${this.member()}`;
    }
  }

  private create(name: string): string {
    const { random } = this;
    const type = random.pick(TYPES);
    if (type === 'bitmap:port') return `create ${name} ${type} range 0-65535`;
    const family = random.pick(['inet', 'inet', 'inet6']);
    return `create ${name} ${type} family ${family} hashsize 1024 maxelem ${random.pick([2, 65536])}`;
  }

  private member(): string {
    const { random } = this;
    const ip = random.pick(['10.0.0.1', '10.0.0.2', '10.0.0.3', 'fd00::1', 'FD00::0002', '10.0.0.999']);
    const port = `${random.pick(['6', '17', 'tcp', 'sctp'])}:${random.pick([80, 443, 70000])}`;
    const net = random.pick(['10.0.0.0/8', '10.1.2.3/16', '10.0.0.7/32', 'fd00::/64', '10.0.0.0/33']);
    return random.pick([
      ip,
      `${ip},${port}`,
      `${ip},${port}`,
      `${ip},${port},${ip}`,
      `${ip},${port},${net}`,
      '80',
      '443',
    ]);
  }
}
