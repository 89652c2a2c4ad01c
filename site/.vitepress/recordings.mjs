/** A plugin of markdown-it: a paragraph that is nothing but a link to a recording becomes its player. */
export function recordings(markdown) {
  markdown.core.ruler.push('recordings', ({ tokens, Token }) => {
    for (const [at, { children }] of tokens.entries()) {
      if (children?.length !== 3) continue;
      const [link, title] = children;
      const name = link.type === 'link_open' && /([\w-]+)\.cast$/.exec(link.attrGet('href'))?.[1];
      if (!name) continue;
      const player = new Token('html_inline', '', 0);
      player.content = `<Recording name="${name}" title="${title.content}" />`;
      tokens[at].children = [player];
      // A paragraph holds no player.
      tokens[at - 1].hidden = tokens[at + 1].hidden = true;
    }
  });
}
