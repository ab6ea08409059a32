// Compaction of Claude Code by kagewasm. What fails here leaves the work to Claude Code.
import { policy, program, state } from './command.js'
import { rowsAfter, shortened, toLines, toMessages } from './messages.js'

const parse = jsonl => jsonl.split('\n').filter(line => line !== '').map(line => JSON.parse(line))
const jsonl = lines => lines.map(line => JSON.stringify(line)).join('\n')

// keyOf names a conversation in kagewasm's store. A subagent has one of its own.
const keyOf = (session, agentId) => (agentId === undefined ? session : `${session}.${agentId}`)

const usage = `/kagewasm status: what was compacted in this conversation
/kagewasm lost [PATTERN]: what the model does not see any more
/compact undo: bring back what the last compaction took`

export const register = (on, options) => {
  on('session.compact', async ($, e, next) => {
    const session = keyOf(await $.session.id(), e.agentId)
    if (e.trigger === 'manual' && e.instructions?.trim() === 'undo') {
      const left = await $.process.run([program, 'sessions', 'context', session, ...state])
      const later = left.exitCode === 0 ? rowsAfter(toMessages(parse(left.stdout), []), e.messages) : undefined
      if (later === undefined) return { skip: left.stderr || 'kagewasm: the conversation is another one by now' }
      const undo = await $.process.run([program, 'undo', session, ...state])
      const back = await $.process.run([program, 'sessions', 'context', session, ...state])
      if (undo.exitCode !== 0 || back.exitCode !== 0) return { skip: undo.stderr || back.stderr }
      return { messages: [...toMessages(parse(back.stdout), []), ...toMessages(toLines(later), later)] }
    }
    const { context } = await $.session.usage()
    const stdin = jsonl(toLines(e.messages))
    const flags = ['--format', 'neutral', '--force', '--quiet', '--session', session, '--window', String(context.window)]
    if (e.instructions) flags.push('--instructions', e.instructions)
    const args = ['compact', '-', ...flags, ...policy, ...state]
    const run = await $.process.run([program, ...args], { stdin, timeoutMs: 8000 })
    if (run.exitCode !== 0 || run.isStdoutTruncated) {
      $.ui.log(`kagewasm did not compact, so Claude Code does: ${run.stderr}`)
      return next(e)
    }
    if (run.stdout.trim() !== stdin) return { messages: toMessages(parse(run.stdout), e.messages) }
    return e.trigger === 'manual' ? { skip: 'kagewasm: there is nothing to supersede yet' } : next(e)
  }).catch(($, e, next) => next(e))

  // A giant result is shortened before it is stored, so that no prompt cache ever holds it.
  on('session.append', ($, e, next) => {
    const most = options.shrinkResultsOver
    if (!(most > 0) || e.door !== 'tool-result' || !Array.isArray(e.message.content)) return next(e)
    return next({ ...e, message: { ...e.message, content: e.message.content.map(block => shortened(block, most)) } })
  }).catch(($, e, next) => next(e))

  on('session.start', async ($, e, next) => {
    const description = 'Show what kagewasm compacted'
    await $.command.register({ name: 'kagewasm', description, argumentHint: '[status|lost PATTERN]' })
    return next(e)
  }).catch(($, e, next) => next(e))

  on('command.run', { command: 'kagewasm' }, async ($, e) => {
    const session = await $.session.id()
    const [verb = 'status', ...rest] = e.args.split(/\s+/).filter(word => word !== '')
    const shows = { status: ['sessions', 'show', session], lost: ['lost', session, '--grep', rest.join(' ')] }
    if (shows[verb] === undefined) return { text: usage }
    const run = await $.process.run([program, ...shows[verb], ...state])
    return { text: run.exitCode === 0 ? run.stdout.slice(0, 10_000) : run.stderr }
  }).catch(() => ({ text: 'kagewasm did not answer: kagewasm doctor claude-code says why' }))
}
