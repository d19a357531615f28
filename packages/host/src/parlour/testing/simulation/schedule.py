"""Runs one schedule: users write, faults happen, the Host dies and restarts; then every promise is checked."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from functools import partial

from parlour.app.core import Core, build_core
from parlour.app.core_ports import CorePorts
from parlour.core.config.routes import Route
from parlour.core.errors import CallRejected
from parlour.core.jobs.job import OPEN_STATES
from parlour.core.journal import Select, one_of, where
from parlour.core.model.agent import Agent
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.core.model.ids import NO_AGENT, NO_BOT, AgentId, BotId, EventId, PluginId
from parlour.core.model.providers import Providers
from parlour.core.model.reply_allowance import ReplyAllowance
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.runs.session import RunTermination
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import APPROVALS, INBOX, JOBS, OUTBOX, RUNS
from parlour_sdk.protocol.manifest import PluginPermissions
from parlour_sdk.values import dataclass

from .bot import BOT, SimulatedBots
from .bubbles import check_bubbles, check_decisions
from .deciding import BOSS, SECONDS
from .deliveries import (
    HOOK_BOT,
    HOOK_ROUTE,
    OBSERVER,
    OBSERVER_PERMISSIONS,
    SimulatedObserver,
    SimulatedReceiver,
    cancel_job,
    send_hooked_event,
)
from .hooks import HOOK, HOOK_PERMISSIONS, check_asked, register_hook
from .job_promises import check_jobs
from .loop import SeededLoop
from .plan import Plan, make_plan
from .plugin import DISCOVERY, PLUGIN, RUNNER, SimulatedPlugin
from .policies import MESSAGE_POLICIES, check_limits
from .promises import (
    BrokenPromise,
    UserMessage,
    check,
    check_acts,
    check_allowances,
    check_files,
    check_marks,
    check_poison,
    check_quarantine,
    check_repeats,
)
from .worker import SimulatedWorker, granted
from .world import (
    SimulatedClock,
    SimulatedIds,
    SimulatedJournal,
    SimulatedPlatform,
    SimulatedTools,
    World,
    patiently,
)

AGENT = AgentId("agent")
PLAIN_BOT = BotId("bot")
LONGEST_SECONDS = 50_000
HOOKED_SEED = 3
"""Remainder of the seeds by 5 whose messages wait for a plugin."""


@dataclass(frozen=True, slots=True)
class Report:
    crashes: int
    messages: int
    points: Counter[str]


def run_schedule(seed: int) -> Report:
    """Runs the schedule. Raises BrokenPromise, which names the seed that reproduces it."""
    dice = random.Random(seed)
    world = World(
        dice,
        crashes_left=dice.choice((0, 1, 1, 2, 3)),
        storage_faults=dice.random() < 0.2,
        idempotent=dice.random() < 0.3,
        answers_questions=dice.random() < 0.3,
        journaled=dice.random() < 0.5,
        power_fails=dice.random() < 0.3,
        message_policy=MESSAGE_POLICIES[seed % len(MESSAGE_POLICIES)],
        hooked=seed % 5 == HOOKED_SEED,
    )
    return _carried_out(seed, world, make_plan(dice, seed))


def run_with_poison(seed: int, innocent: int = 20) -> Report:
    """Runs a schedule in which one message kills the Host whenever it is tried, while other
    messages are being answered.
    """
    dice = random.Random(seed)
    texts = ["poison token."] + [f"slow token{number}." for number in range(innocent)]
    messages = [
        UserMessage(EventId(f"event{index}"), f"chat{index}", "webui", f"person{index}", text)
        for index, text in enumerate(texts)
    ]
    dice.shuffle(messages)
    world = World(
        dice,
        crashes_left=0,
        storage_faults=False,
        idempotent=False,
        answers_questions=False,
        journaled=False,
        power_fails=False,
        concurrent_runs=(256,),
    )
    report = _carried_out(seed, world, Plan(messages, cancels=0, pending=list(range(len(messages)))))
    try:
        check_poison(world.database.read, messages, world.in_flight)
    except BrokenPromise as error:
        raise BrokenPromise(f"seed {seed}: {error}") from error
    return report


def _carried_out(seed: int, world: World, plan: Plan) -> Report:
    try:
        while not _live(world, plan):
            pass
        check(world.database.read, plan.user_messages, world.shown, world.crashes + world.lost_answers, world.held)
        if not world.power_fails:
            check_marks(world.shown, world.tries)
        if not (world.power_fails or world.idempotent):
            check_repeats(world.shown, world.crashes + world.lost_answers, world.most_under_way)
        if not world.storage_faults:
            check_quarantine(world.database.read, world.in_flight)
        check_acts(world.acts)
        if not world.storage_faults:
            check_asked(world.asked, world.crashes)
        check_limits(world.database.read, plan.user_messages, world.message_policy)
        check_allowances(world.database.read, plan.user_messages, world.shown)
        check_files(world.database.read, world.objects.content)
        check_bubbles(world.database.read, plan.chats, world.crashes + world.lost_answers)
        check_decisions(world.database.read, plan.chats, plan.deciders.decisions)
        check_jobs(world.database.read, plan.deliveries, plan.user_messages)
    except BrokenPromise as error:
        raise BrokenPromise(f"seed {seed}: {error}") from error
    return Report(world.crashes, len(plan.user_messages), world.points)


def _live(world: World, plan: Plan) -> bool:
    """Runs one Host process. Returns True if it stopped cleanly, False if it crashed."""
    loop = SeededLoop(world.dice, world.now)
    world.dead = False
    asyncio.set_event_loop(loop)
    main_task = loop.create_task(_run_core(world, plan))
    main_task.add_done_callback(lambda _: loop.stop())
    try:
        loop.run_forever()
        died = world.dead
        if not died:
            main_task.result()
    finally:
        world.now = loop.time()
        _bury(loop, world)
    for failure in [] if died else loop.failures:
        raise BrokenPromise(f"an error nobody handled: {failure.get('message')}: {failure.get('exception')!r}")
    return not died


def _bury(loop: SeededLoop, world: World) -> None:
    """Ends the tasks of the dead Host without effects, in no particular order and without consuming random numbers."""
    world.dead = True
    dice_state = world.dice.getstate()
    while tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.call_soon(loop.stop)
        loop.run_forever()
    world.dice.setstate(dice_state)
    asyncio.set_event_loop(None)
    loop.close()


async def _run_core(world: World, plan: Plan) -> None:
    observer = SimulatedObserver(world, plan.deliveries)
    plugin = SimulatedPlugin(world, observer)
    if world.hooked:
        register_hook(observer.components)
    core = build_core(
        CorePorts(
            journal=SimulatedJournal(world),
            plugins=plugin,
            clock=SimulatedClock(world),
            ids=SimulatedIds(world),
            components=observer.components,
            surfaces={"sim": SimulatedPlatform(world)},
            send_log=world.send_log,
            bots=SimulatedBots(world, plan.chats),
            objects=world.objects,
            providers=Providers(tools=SimulatedTools(world)),
            plugin_grants=_granted,
            hook_sender=SimulatedReceiver(world, plan.deliveries),
            concurrent_runs=world.dice.choice(world.concurrent_runs),
        )
    )
    plugin.gate = core.gate
    core.registry.replace_plugin(PLUGIN, "1", [DISCOVERY])
    await patiently(core.load)
    await _configure(core, world, bool(plan.deliveries.hooked))
    users = [asyncio.create_task(_say(core, plan, number, world)) for number in list(plan.pending)]
    users += [asyncio.create_task(_cancel(core, plan, world)) for _ in range(plan.cancels)]
    users += [asyncio.create_task(_control(core, plan, world)) for _ in range(plan.controls)]
    users += [asyncio.create_task(_rerun(core, plan, world)) for _ in range(plan.reruns)]
    users.append(asyncio.create_task(_clean(core, world)))
    users += [
        asyncio.create_task(send_hooked_event(core, plan.deliveries, event_id, world))
        for event_id in plan.deliveries.hooked
    ]
    users += [asyncio.create_task(cancel_job(core, plan.deliveries, world)) for _ in range(plan.deliveries.cancels)]
    if plan.deliveries.is_active:
        users.append(asyncio.create_task(observer.start()))
    deliver = partial(_deliver, core)
    deciding = asyncio.create_task(plan.deciders.look(world, plan.chats, deliver))
    await patiently(core.recover)
    working = asyncio.create_task(SimulatedWorker(world, core.gate).serve())
    await asyncio.gather(*users)
    while not _at_rest(core, world):
        await asyncio.sleep(1)
        if world.loop_time() > LONGEST_SECONDS:
            raise BrokenPromise("the Host came to rest")
    working.cancel()
    deciding.cancel()
    await asyncio.wait([working, deciding])
    await core.approvals.close()


def _granted(plugin_id: PluginId) -> PluginPermissions:
    return {OBSERVER: OBSERVER_PERMISSIONS, HOOK: HOOK_PERMISSIONS}.get(plugin_id) or granted(plugin_id)


async def _configure(core: Core, world: World, hooked: bool) -> None:
    if core.agents.get(AGENT) is None:
        agent = Agent(
            AGENT,
            "agent",
            RUNNER,
            resource_policy=ResourcePolicy(tools="*"),
            approval_policy={"*": {"decision": "ask", "who": {"users": [BOSS]}, "seconds": SECONDS}},
            timeout_seconds=30,
            stale_after=0,
            journal_calls=world.journaled,
            message_policy=world.message_policy,
        )
        await patiently(lambda: core.agents.add(agent))
    for bot_id in (PLAIN_BOT, BOT):
        if not core.routes.in_match_order(bot_id):
            routes = [Route("message.*", "agent", {"agent_id": "agent"}), Route("*", "drop")]
            await patiently(partial(core.routes.replace, bot_id, routes))
    if hooked and not core.routes.in_match_order(HOOK_BOT):
        await patiently(partial(core.routes.replace, HOOK_BOT, [HOOK_ROUTE]))


async def _deliver(core: Core, event: EventEnvelope) -> None:
    await patiently(lambda: core.gateway.ingest(event))


async def _say(core: Core, plan: Plan, number: int, world: World) -> None:
    """Sends a message again until it is accepted, and sometimes once more."""
    message = plan.user_messages[number]
    await asyncio.sleep(world.dice.random() * 0.3)
    direct = message.surface in ("webui", "api")
    grows = message.surface == "platform"
    event = EventEnvelope(
        event_id=message.event_id,
        event_type="message.received",
        source="fake" if grows else message.surface,
        chat=f"group:{message.chat}" if grows else message.chat,
        context=EventContext(message.event_id),
        surface=message.surface,
        agent_id=AGENT if direct else NO_AGENT,
        bot_id=NO_BOT if direct else BOT if grows else PLAIN_BOT,
        principal="key:1" if direct else "",
        actor=Participant("user", message.person, message.person),
        input={"text": message.text},
        data={"chat_type": "group", "chat_id": message.chat, "mentions_bot": True} if grows else {},
    )
    for _ in range(world.dice.choice((1, 1, 2))):
        await patiently(partial(_receive, core, event, message.allowance))
        if number in plan.pending:
            plan.pending.remove(number)
        message.accepted = True
        await world.pause()


async def _receive(core: Core, event: EventEnvelope, allowance: ReplyAllowance | None) -> None:
    """Passes an event to the Host as the link of a bot does."""
    allowed = await core.held_replies.prepare(event, allowance)
    await core.gateway.ingest(allowed.envelope, *allowed.statements)
    core.held_replies.after_commit(allowed)


async def _control(core: Core, plan: Plan, world: World) -> None:
    """Sends a chat command to the Host, in a chat where users talk."""
    await asyncio.sleep(world.dice.random() * 0.4)
    chats = sorted({message.chat for message in plan.user_messages if message.surface == "webui"})
    if not chats:
        return
    plan.controls -= 1
    event = EventEnvelope(
        event_id=EventId(f"control{plan.controls}"),
        event_type="message.received",
        source="webui",
        chat=world.dice.choice(chats),
        context=EventContext("control"),
        surface="webui",
        agent_id=AGENT,
        principal="key:1",
        actor=Participant("user", "ann"),
        input={"text": world.dice.choice(("/new", "/stop"))},
    )
    await patiently(lambda: core.gateway.ingest(event))


async def _rerun(core: Core, plan: Plan, world: World) -> None:
    """Requests a rerun."""
    await asyncio.sleep(0.2 + world.dice.random() * 0.4)
    finished_runs = [row for row in world.database.read(Select(RUNS, where(rerun_of=""))) if row["finished_at"]]
    if finished_runs:
        plan.reruns -= 1
        run = world.dice.choice(finished_runs)
        with suppress(CallRejected):
            await patiently(lambda: core.reruns.start(run, RerunOptions()))


async def _clean(core: Core, world: World) -> None:
    """Runs the clean-up beside everything; only orphans are old enough to be deleted."""
    await asyncio.sleep(world.dice.random() * 0.5)
    retention = Retention(SimulatedJournal(world), core.artifacts, SimulatedClock(world), RetentionPeriods(0, 0, 0, 0))
    await patiently(retention.run_once)


async def _cancel(core: Core, plan: Plan, world: World) -> None:
    await asyncio.sleep(world.dice.random() * 0.4)
    for session in core.sessions.all()[:1]:
        plan.cancels -= 1
        with suppress(CallRejected):
            await core.control.cancel(
                session.run_id, RunTermination("cancelled", "cancelled", "a person cancelled the run")
            )


def _at_rest(core: Core, world: World) -> bool:
    rows = world.database.read(Select(INBOX, limit=1))
    pending = world.database.read(Select(OUTBOX, where(state=one_of("pending", "sending", "streaming")), limit=1))
    undecided = world.database.read(Select(APPROVALS, where(status="pending"), limit=1))
    jobs = world.database.read(Select(JOBS, where(state=one_of(*OPEN_STATES)), limit=1))
    return not (rows or pending or undecided or jobs or len(core.jobs) or core.sessions.all())
