import { E } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';

/** Slots of four bytes: four for the verdict, and those that rules use. */
const SLOTS = 20;
const FIRST_SLOT = 4;
const FIRST_SMALL = 8;
const LAST_SMALL = 23;

/** The registers of a rule, as far as its expressions have filled them. */
export class Registers {
  private readonly filled = new Array<boolean>(SLOTS).fill(false);

  /** @param mustBeFilled kernels from 6.13 on refuse to read what no expression of the rule has written */
  constructor(private readonly mustBeFilled: boolean) {}

  /** Checks that so many bytes can be read from the register of this number. @throws Refusal */
  load(register: number, length: number): void {
    const slot = slotOf(register);
    if (slot < FIRST_SLOT || length === 0) throw new Refusal(E.EINVAL);
    if (slot * 4 + length > SLOTS * 4) throw new Refusal(E.ERANGE);
    if (!this.mustBeFilled) return;
    for (let at = slot; at < slot + Math.ceil(length / 4); at++)
      if (!this.filled[at]) throw new Refusal(E.ENODATA);
  }

  /** The same for writing. */
  store(register: number, length: number): void {
    const slot = slotOf(register);
    if (slot < FIRST_SLOT || length === 0) throw new Refusal(E.EINVAL);
    if (slot * 4 + length > SLOTS * 4) throw new Refusal(E.ERANGE);
    this.filled.fill(true, slot, slot + Math.ceil(length / 4));
  }

  /** By an expression that is not known well enough. */
  storeAnything(): void {
    this.filled.fill(true);
  }
}

/** The number by which the kernel lists a register: that of a large one where it begins. */
export function listedRegister(register: number): number {
  const slot = slotOf(register);
  return slot % 4 === 0 ? slot / 4 : FIRST_SMALL + slot - FIRST_SLOT;
}

/** The first slot of a register, by one of its numbers. */
function slotOf(register: number): number {
  if (register <= 4) return register * 4;
  if (register >= FIRST_SMALL && register <= LAST_SMALL) return FIRST_SLOT + register - FIRST_SMALL;
  throw new Refusal(E.ERANGE);
}
