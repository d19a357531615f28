"""A bot written with python-telegram-bot, as users of that library write them. It repeats the messages.

`python ptb_bot.py ADDRESS TOKEN` polls that Bot API for updates.
"""

import sys

from telegram import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaPhoto,
    MessageEntity,
    ReactionTypeEmoji,
    Update,
)
from telegram.constants import ParseMode
from telegram.error import BadRequest, ChatMigrated, Forbidden, RetryAfter
from telegram.ext import (
    Application,
    CallbackQueryHandler,
    ChatMemberHandler,
    CommandHandler,
    ContextTypes,
    MessageHandler,
    MessageReactionHandler,
    filters,
)

Context = ContextTypes.DEFAULT_TYPE


async def start(update: Update, context: Context) -> None:
    markup = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="yes")]])
    words = f"<b>hello</b> {' '.join(context.args)}"
    await update.effective_message.reply_html(words, reply_markup=markup, do_quote=True)


async def trouble(update: Update, context: Context) -> None:
    """Reports the exception that the library raises for each refusal."""
    chat, reported = update.effective_chat.id, []
    message = await context.bot.send_message(chat, "same")
    for deed in (
        message.edit_text("same"),
        context.bot.send_message(chat, "x" * 5000),
        context.bot.send_message(chat, "<b>open", parse_mode=ParseMode.HTML),
        context.bot.send_message(404, "nobody"),
        context.bot.send_message(13, "blocked"),
        context.bot.get_file("large"),
        context.bot.send_message(-42, "moved"),
    ):
        try:
            await deed
        except (BadRequest, Forbidden) as refused:
            reported.append(f"{type(refused).__name__}: {refused.message[:40]}")
        except ChatMigrated as other:
            reported.append(type(other).__name__)
    await message.edit_text("\n".join(reported))


async def hurry(update: Update, context: Context) -> None:
    try:
        for number in range(40):
            await context.bot.send_message(update.effective_chat.id, str(number))
    except RetryAfter:
        await context.bot.send_message(update.effective_user.id, "RetryAfter")


async def pressed(update: Update, context: Context) -> None:
    await update.callback_query.answer("got it")
    await update.callback_query.edit_message_text(f"you pressed {update.callback_query.data}")


async def repeat(update: Update, context: Context) -> None:
    message = update.effective_message
    if message.photo:
        data = await (await message.photo[-1].get_file()).download_as_bytearray()
        await message.reply_media_group([InputMediaPhoto(bytes(data), caption="again"), InputMediaPhoto(bytes(data))])
    elif message.document:
        data = await (await message.document.get_file()).download_as_bytearray()
        await message.reply_document(bytes(data), filename=message.document.file_name)
    else:
        entity = MessageEntity(MessageEntity.ITALIC, 0, 3)
        await message.reply_text(f"you said: {message.text}", entities=[entity])
        await message.set_reaction(ReactionTypeEmoji("👍"))


async def reacted(update: Update, context: Context) -> None:
    reaction = update.message_reaction
    await context.bot.send_message(reaction.chat.id, f"reaction {reaction.new_reaction[0].emoji}")


async def member(update: Update, context: Context) -> None:
    change = update.chat_member
    who = await context.bot.get_chat_member(change.chat.id, change.new_chat_member.user.id)
    await context.bot.send_message(change.chat.id, f"welcome {who.user.first_name}, {who.status}")


def application(address: str, token: str) -> Application:
    builder = Application.builder().token(token).base_url(f"{address}/bot").base_file_url(f"{address}/file/bot")
    app = builder.build()
    app.add_handler(CommandHandler("start", start))
    app.add_handler(CommandHandler("trouble", trouble))
    app.add_handler(CommandHandler("hurry", hurry))
    app.add_handler(CallbackQueryHandler(pressed))
    app.add_handler(MessageReactionHandler(reacted))
    app.add_handler(ChatMemberHandler(member, ChatMemberHandler.CHAT_MEMBER))
    app.add_handler(MessageHandler(filters.ALL, repeat))
    return app


if __name__ == "__main__":
    address, token = sys.argv[1:]
    application(address, token).run_polling(allowed_updates=Update.ALL_TYPES)
