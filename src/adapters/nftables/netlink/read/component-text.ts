import { protocolText } from '../../../../domain/model/protocol-number.js';
import { formatPriority } from '../../../../domain/nftables/layout/priority.js';
import { Component, slotLength } from './components.js';

/** The canonical text of the components at that position; ComponentScanner reads it back. */
export function componentsText(bytes: Buffer, start: number, components: readonly Component[]): string {
  let text = '';
  let at = start;
  for (let index = 0; index < components.length; index++) {
    const component = components[index]!;
    const own = componentText(bytes, at, component);
    text = index === 0 ? own : `${text} . ${own}`;
    at += slotLength(component);
  }
  return text;
}

function componentText(bytes: Buffer, at: number, component: Component): string {
  switch (component) {
    case Component.IPv4Address:
      return `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;
    case Component.IPv6Address:
      return ipv6Text(bytes, at);
    case Component.Protocol:
      return protocolText(bytes[at]!);
    case Component.Port:
      return String((bytes[at]! << 8) | bytes[at + 1]!);
    case Component.Priority:
      return formatPriority(bytes.readUInt32LE(at));
    case Component.Slot:
      return String(bytes.readUInt32LE(at));
  }
}

/** RFC 5952 without dotted quads: the first longest run of two or more zero groups becomes `::`. */
function ipv6Text(bytes: Buffer, at: number): string {
  let gap = -1;
  let longest = 1;
  for (let index = 0; index < 8; index++) {
    let length = 0;
    while (
      index + length < 8 &&
      bytes[at + 2 * (index + length)] === 0 &&
      bytes[at + 2 * (index + length) + 1] === 0
    ) {
      length++;
    }
    if (length > longest) {
      gap = index;
      longest = length;
    }
    if (length > 0) index += length - 1;
  }
  let text = '';
  for (let index = 0; index < 8; index++) {
    if (index === gap) {
      text += '::';
      index += longest - 1;
      continue;
    }
    const behindGap = gap >= 0 && index === gap + longest;
    if (index > 0 && !behindGap) text += ':';
    text += ((bytes[at + 2 * index]! << 8) | bytes[at + 2 * index + 1]!).toString(16);
  }
  return text;
}
